import { NameIndex } from "./name-index.js";

/** Where the integers of a field are: the value itself, the items of a set, the values of a map. */
export type IntegerPosition = "value" | "set" | "map";

/**
 * Class metadata for the parser, as plain data: passed to each worker when it
 * starts.
 */
export interface ClassHints {
  readonly classes: Readonly<Record<string, ClassHint>>;
  /** For classes not in `classes`. */
  readonly unknownClass: ClassHint;
  /** Class name in lower case, as in event.from (`vm`), to its spelling in the data model (`VM`). */
  readonly classNames: Readonly<Record<string, string>>;
  /** Maximum nesting depth of an answer, including the envelope. */
  readonly maxDepth: number;
  /** Module to load for Expat. */
  readonly expatModule: string;
  /** Fail if Expat cannot be loaded. */
  readonly expatOnly: boolean;
}

export interface ClassHint {
  readonly columns: readonly string[];
  /** Fields in which XML-RPC sends integers without a tag. */
  readonly integers: Readonly<Record<string, IntegerPosition>>;
}

/** Indexes of a class for the splitters. */
export interface ClassLayout {
  readonly name: string;
  readonly columns: NameIndex;
  readonly integers: NameIndex;
  /** In the order of `integers`. */
  readonly integerPositions: readonly IntegerPosition[];
}

/** Class layouts of one thread, created from the hints. */
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

  /** The spelling in the data model; the name itself for an unknown class. */
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
      integerPositions: Object.values(hint.integers),
    };
    // Limited, as a malicious pool can send any number of class names.
    if (this.#models.size < 1000) this.#models.set(name, model);
    return model;
  }
}
