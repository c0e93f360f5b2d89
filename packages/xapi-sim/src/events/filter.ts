/**
 * The objects that a client subscribes to. Unknown classes and references never match and are no
 * error.
 */
export class EventFilter {
  readonly #all: boolean;
  readonly #classes = new Set<string>();
  /** `class/ref`, class in lower case. */
  readonly #objects = new Set<string>();
  /** Whether only tasks are subscribed to: then XAPI does not batch. */
  readonly tasksOnly: boolean;

  /** `*`, `VM` (any case), `VM/OpaqueRef:...` (reference exact). */
  constructor(classes: readonly string[]) {
    this.#all = classes.includes("*");
    let tasksOnly = classes.length > 0;
    for (const text of classes) {
      const slash = text.indexOf("/");
      const name = (slash < 0 ? text : text.slice(0, slash)).toLowerCase();
      if (slash < 0) this.#classes.add(name);
      else this.#objects.add(name + text.slice(slash));
      tasksOnly &&= name === "task";
    }
    this.tasksOnly = tasksOnly;
  }

  /** @param className in the datamodel's spelling */
  matches(className: string, ref: string): boolean {
    if (this.#all) return true;
    const name = className.toLowerCase();
    return this.#classes.has(name) || this.#objects.has(`${name}/${ref}`);
  }

  /** Whether any object of the class can match. */
  concerns(className: string): boolean {
    if (this.#all) return true;
    const name = className.toLowerCase();
    if (this.#classes.has(name)) return true;
    for (const object of this.#objects)
      if (object.startsWith(`${name}/`)) return true;
    return false;
  }
}
