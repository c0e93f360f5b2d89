import root, { type Test } from "tap";

/** The `t` that test files import: the test of the file that runs now. */
let t: Test = root;
export { t as default };

/** Runs a file as a subtest of its own, so that what it sets up is torn down with it. */
export async function runFile(
  name: string,
  testdir: string,
  load: () => Promise<unknown>,
): Promise<Test> {
  let test: Test = root;
  await root.test(name, { testdir }, async (fileTest) => {
    test = t = fileTest;
    await load();
  });
  return test;
}

export { root };
