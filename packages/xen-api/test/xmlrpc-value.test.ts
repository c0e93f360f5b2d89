import t from "tap";
import { parseXmlFragment, parseXmlResponse } from "../src/xmlrpc-value.js";

const ref = "OpaqueRef:9b1ff1c4-8d1e-4b59-8a0a-0a0a0a0a0a0a";

/** Parsed as a whole document, without the short way for plain strings. */
function parseWhole(fragment: string): Promise<unknown> {
  const xml = `<methodResponse><params><param>${fragment}</param></params></methodResponse>`;
  return parseXmlResponse(xml, 100);
}

t.test("a plain result of a task is what the parser reads", async (t) => {
  for (const fragment of [
    `<value>${ref}</value>`,
    `<value><string>${ref}</string></value>`,
    "<value></value>",
    "<value/>",
    "<value><string></string></value>",
    "<value>7</value>",
    "<value> spaces </value>",
    "<value>line\nline</value>",
    "<value>a &amp; b</value>",
    "<value><i4>7</i4></value>",
    "<value><boolean>1</boolean></value>",
    "<value><double>nan</double></value>",
    `<value><array><data><value>${ref}</value></data></array></value>`,
    "<value><struct><member><name>a</name><value>b</value></member></struct></value>",
  ])
    t.same(
      await parseXmlFragment(fragment),
      await parseWhole(fragment),
      fragment,
    );
  t.equal(await parseXmlFragment(`<value>${ref}</value>`), ref);
});

t.test("a result that is not a value is refused", async (t) => {
  for (const fragment of [
    "<value>a</value><value>b</value>",
    "<value><string>a</value>",
    "<value>a<string></value>",
  ]) {
    const whole = await parseWhole(fragment).catch(() => "refused");
    const read = await parseXmlFragment(fragment).catch(() => "refused");
    t.same(read, whole, fragment);
  }
});
