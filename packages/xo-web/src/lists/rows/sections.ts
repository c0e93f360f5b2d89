/**
 * Consecutive rows with a common heading, or without one. Collapsed sections show
 * only their heading.
 */
export interface ListSection {
  readonly key: string;
  readonly hasHead: boolean;
  readonly isOpen: boolean;
  readonly count: number;
}

/** A line of the list: a heading, or the row with an index in its section. */
interface ListLine {
  readonly section: ListSection;
  /** -1: the heading. */
  readonly index: number;
}

/**
 * Positions of lines of one height: sections one below the other, computed, so that a list of
 * 100,000 rows costs no more than one of ten.
 */
export class Lines {
  readonly sections: readonly ListSection[];
  /** First line of each section, and the end. */
  readonly #starts: number[] = [0];

  constructor(sections: readonly ListSection[]) {
    this.sections = sections;
    let end = 0;
    for (const section of sections) {
      end += (section.hasHead ? 1 : 0) + (section.isOpen ? section.count : 0);
      this.#starts.push(end);
    }
  }

  get count(): number {
    return this.#starts.at(-1)!;
  }

  /** Undefined: beyond the last line. */
  at(line: number): ListLine | undefined {
    if (line < 0 || line >= this.count) return undefined;
    const at = this.#sectionOf(line);
    const section = this.sections[at]!;
    const within = line - this.#starts[at]!;
    return { section, index: within - (section.hasHead ? 1 : 0) };
  }

  /** The line of a row; undefined when it is not shown. */
  lineOf(key: string, index: number): number | undefined {
    const at = this.sections.findIndex((one) => one.key === key);
    const section = this.sections[at];
    if (section === undefined || index >= section.count) return undefined;
    if (index >= 0 && !section.isOpen) return undefined;
    return this.#starts[at]! + index + (section.hasHead ? 1 : 0);
  }

  /** The rows of each section in the lines from `first` up to `end`. */
  rowsIn(first: number, end: number): RowRange[] {
    const ranges: RowRange[] = [];
    if (end <= first || this.count === 0) return ranges;
    const from = this.#sectionOf(Math.min(Math.max(first, 0), this.count - 1));
    for (let at = from; at < this.sections.length; at++) {
      const section = this.sections[at]!;
      const start = this.#starts[at]! + (section.hasHead ? 1 : 0);
      if (this.#starts[at]! >= end) break;
      const low = Math.max(first - start, 0);
      const high = Math.min(end - start, section.isOpen ? section.count : 0);
      if (high > low) ranges.push({ section, first: low, end: high });
    }
    return ranges;
  }

  /** The last section that begins at the line or before it. */
  #sectionOf(line: number): number {
    let low = 0;
    let high = this.sections.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= line) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

export interface RowRange {
  readonly section: ListSection;
  readonly first: number;
  readonly end: number;
}
