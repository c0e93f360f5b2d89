import { NameIndex } from "./name-index.js";

/** How integers hide in a field: the field itself, a set of them, the values of a map. */
export type IntegerPlace = "value" | "set" | "map";

/**
 * What a parser has to know of the classes, as plain data: it goes to each
 * worker once, when the worker starts.
 */
export interface ClassHints {
  readonly classes: Readonly<Record<string, ClassHint>>;
  /** For a class that is not listed. */
  readonly unknownClass: ClassHint;
  /** How event.from writes a class (`vm`) to the datamodel's spelling (`VM`). */
  readonly classNames: Readonly<Record<string, string>>;
  /** Levels of nesting that an answer may have, its envelope included. */
  readonly maxDepth: number;
  /** What to load for Expat. */
  readonly expatModule: string;
  /** Fail where Expat does not load. */
  readonly expatOnly: boolean;
}

export interface ClassHint {
  readonly columns: readonly string[];
  /** Fields in which XML-RPC leaves integers untagged. */
  readonly integers: Readonly<Record<string, IntegerPlace>>;
}

/** A class as the splitters use it. */
export interface ClassLayout {
  readonly name: string;
  readonly columns: NameIndex;
  readonly integers: NameIndex;
  /** In the order of `integers`. */
  readonly integerPlaces: readonly IntegerPlace[];
}

/** The hints, ready for use on one thread. */
export class ClassRegistry {
  readonly maxDepth: number;
  readonly expatModule: string;
  readonly expatOnly: boolean;
  readonly #hints: ClassHints;
  readonly #classNames: ReadonlyMap<string, string>;
  readonly #models = new Map<string, ClassLayout>();

  constructor(hints: ClassHints) {
    this.maxDepth = hints.maxDepth;
    this.expatModule = hints.expatModule;
    this.expatOnly = hints.expatOnly;
    this.#hints = hints;
    this.#classNames = new Map(Object.entries(hints.classNames));
  }

  /** The datamodel's spelling; an unknown class comes back as it was given. */
  classNameOf(name: string): string {
    return this.#classNames.get(name.toLowerCase()) ?? name;
  }

  classOf(name: string): ClassLayout {
    const known = this.#models.get(name);
    if (known !== undefined) return known;
    const { classes, unknownClass: otherwise } = this.#hints;
    const hint = Object.hasOwn(classes, name) ? classes[name]! : otherwise;
    const model = {
      name,
      columns: new NameIndex(hint.columns),
      integers: new NameIndex(Object.keys(hint.integers)),
      integerPlaces: Object.values(hint.integers),
    };
    // A hostile pool may name any number of classes.
    if (this.#models.size < 1000) this.#models.set(name, model);
    return model;
  }
}
