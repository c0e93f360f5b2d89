import t from "tap";
import { goPages } from "../src/navigation/go-pages.js";
import { sidePages } from "../src/navigation/side-pages.js";
import { Shortcuts, type Press } from "../src/keyboard/shortcuts.js";

const press = (key: string, more: Partial<Press> = {}): Press => ({
  key,
  isCommand: false,
  isAlt: false,
  target: "page",
  time: 0,
  ...more,
});

function started() {
  const shortcuts = new Shortcuts();
  const done: string[] = [];
  const add = (keys: string, name = keys, answer: unknown = true) =>
    shortcuts.add({
      keys,
      description: () => name,
      run: () => {
        done.push(name);
        return answer;
      },
    });
  return { shortcuts, done, add };
}

t.test("a key runs its shortcut", async (t) => {
  const { shortcuts, done, add } = started();
  add("x");
  t.equal(shortcuts.press(press("x")), true);
  t.equal(shortcuts.press(press("y")), false);
  t.equal(shortcuts.press(press("x", { isAlt: true })), false);
  t.equal(shortcuts.press(press("x", { isCommand: true })), false);
  t.same(done, ["x"]);
});

t.test("two keys in quick succession", async (t) => {
  const { shortcuts, done, add } = started();
  add("g v");
  add("v");
  t.equal(shortcuts.press(press("g")), true, "the browser waits with us");
  shortcuts.press(press("v", { time: 1_000 }));
  t.same(done, ["g v"]);
  shortcuts.press(press("g"));
  shortcuts.press(press("v", { time: 2_000 }));
  t.same(done, ["g v", "v"], "too late: a key of its own");
  shortcuts.press(press("g"));
  shortcuts.press(press("x"));
  shortcuts.press(press("v"));
  t.same(done.at(-1), "v");
  t.equal(done.length, 3);
});

t.test("nothing is requested during typing", async (t) => {
  const { shortcuts, done, add } = started();
  for (const keys of ["x", "Enter", "Mod+k"]) add(keys);
  for (const target of ["field", "dialog", "console"] as const)
    t.equal(shortcuts.press(press("x", { target })), false, target);
  t.equal(shortcuts.press(press("Enter", { target: "control" })), false);
  t.same(done, []);
  t.equal(shortcuts.press(press("x", { target: "control" })), true);
  const command = (target: Press["target"]) =>
    shortcuts.press(press("K", { isCommand: true, target }));
  t.equal(command("field"), true, "Control and a letter is not a text");
  t.equal(command("console"), false, "the guest gets it");
});

t.test("keys without Control can be switched off", async (t) => {
  const { shortcuts, done, add } = started();
  add("x");
  add("Mod+k");
  shortcuts.areSingleKeysOn = false;
  t.equal(shortcuts.press(press("x")), false);
  t.equal(shortcuts.press(press("k", { isCommand: true })), true);
  t.same(done, ["Mod+k"]);
});

t.test("the most recent is first, unless it matches worse", async (t) => {
  const { shortcuts, done, add } = started();
  add("x", "page");
  const remove = add("x", "dialog");
  shortcuts.press(press("x"));
  t.same(done, ["dialog"]);
  t.same(
    shortcuts.list.map(({ description }) => description()),
    ["dialog"],
  );
  remove();
  shortcuts.press(press("x"));
  t.same(done, ["dialog", "page"]);
  add("x", "not now", false);
  shortcuts.press(press("x"));
  t.same(done.slice(2), ["not now", "page"]);
});

t.test("g and a letter lead to every page of the side bar", async (t) => {
  const pages = sidePages.flatMap(({ pages }) => pages);
  t.same(
    goPages.map(({ path }) => path).sort(),
    pages.map(({ path }) => path).sort(),
  );
  const letters = goPages.map(({ letter }) => letter);
  t.equal(new Set(letters).size, letters.length, "one letter each");
});
