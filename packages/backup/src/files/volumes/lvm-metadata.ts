import { damaged } from "../model/file-system-error.js";

/** A section of the text in which LVM2 describes a volume group, see lvm.conf(5). */
export interface LvmSection {
  readonly [name: string]: LvmValue | undefined;
}

type LvmValue = string | number | readonly (string | number)[] | LvmSection;

const MAX_DEPTH = 12;
const TOKEN =
  /\s*(?:#[^\n]*\n\s*)*([A-Za-z0-9_.+-]+|"(?:[^"\\]|\\.)*"|[{}[\]=,])/y;

/** @throws FileSystemError `file-system-damaged` */
export function parseLvmMetadata(text: string): LvmSection {
  return new Parser(text).section(0);
}

class Parser {
  readonly #text: string;
  readonly #token = new RegExp(TOKEN);

  constructor(text: string) {
    this.#text = text;
  }

  section(depth: number): LvmSection {
    if (depth > MAX_DEPTH) throw damaged("LVM metadata are nested too deeply");
    const section: Record<string, LvmValue> = Object.create(null) as Record<
      string,
      LvmValue
    >;
    for (let name = this.#next(); name !== undefined; name = this.#next()) {
      if (name === "}" && depth > 0) return section;
      const sign = this.#next();
      if (sign === "{") section[name] = this.section(depth + 1);
      else if (sign === "=") section[name] = this.#value();
      else throw damaged("LVM metadata cannot be parsed");
    }
    if (depth > 0) throw damaged("LVM metadata are cut");
    return section;
  }

  #value(): string | number | (string | number)[] {
    const first = this.#next();
    if (first !== "[") return scalarOf(first);
    const values: (string | number)[] = [];
    for (let token = this.#next(); token !== "]"; token = this.#next())
      if (token !== ",") values.push(scalarOf(token));
    return values;
  }

  #next(): string | undefined {
    const { lastIndex } = this.#token;
    const token = this.#token.exec(this.#text)?.[1];
    // The end: text behind it is not read, and the search does not begin again.
    if (token === undefined) this.#token.lastIndex = lastIndex;
    return token;
  }
}

function scalarOf(token: string | undefined): string | number {
  if (token === undefined) throw damaged("LVM metadata are cut");
  if (token.startsWith('"'))
    return token.slice(1, -1).replaceAll(/\\(.)/g, "$1");
  const number = Number(token);
  return Number.isNaN(number) ? token : number;
}
