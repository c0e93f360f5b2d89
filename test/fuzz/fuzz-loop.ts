import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandom, type Random } from "../faults/seeded-random.js";
import { counters, usedPlaces, words } from "./coverage.js";
import type { FuzzTarget } from "./fuzz-target.js";
import { mutate } from "./mutate.js";

export interface FuzzLoopOptions {
  readonly target: FuzzTarget;
  /** The corpus of the repository and that of earlier runs. */
  readonly folders: readonly string[];
  /** Where new inputs of the corpus are written. */
  readonly out: string;
  readonly seed: number;
  /** Called before each input. */
  readonly onInput: (input: Buffer) => void;
  readonly onCrash: (input: Buffer, error: unknown) => void;
}

export interface SlowInput {
  /** Of all threads of the process, in ms. */
  readonly cpuMs: number;
  /** Its file, next to the corpus. */
  readonly name: string;
}

/** Buckets of counts, as AFL has them: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128+. */
const BUCKETS = Uint8Array.from({ length: 256 }, (_, count) =>
  count < 4
    ? [0, 1, 2, 4][count]!
    : count < 8
      ? 8
      : count < 16
        ? 16
        : count < 32
          ? 32
          : count < 128
            ? 64
            : 128,
);

/** Inputs whose time is not measured. */
const WARM_UP = 500;

/** Mutates inputs; those that reach code, or reach it more often than any before, are mutated again. */
export class FuzzLoop {
  executions = 0;
  /** The input that has taken the most CPU time so far. */
  slowest: SlowInput = { cpuMs: 0, name: "" };
  readonly #options: FuzzLoopOptions;
  readonly #random: Random;
  readonly #corpus: Buffer[] = [];
  /** Buckets that were reached, for each place. */
  readonly #reached = new Uint8Array(counters.length);

  constructor(options: FuzzLoopOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
  }

  get corpusSize(): number {
    return this.#corpus.length;
  }

  /** Places of the code that were reached. */
  get coverage(): number {
    return this.#reached
      .subarray(0, usedPlaces())
      .reduce((sum, one) => sum + (one > 0 ? 1 : 0), 0);
  }

  /** Runs the seeds and the corpus. */
  async start(): Promise<void> {
    const { target, folders, out } = this.#options;
    mkdirSync(out, { recursive: true });
    for (const seed of target.seeds)
      await this.#try(Buffer.from(seed as string), false);
    for (const folder of [...folders, out])
      for (const input of readInputs(folder)) await this.#try(input, false);
    if (this.#corpus.length === 0) this.#corpus.push(Buffer.from("0"));
  }

  /** Runs this number of mutated inputs. */
  async run(count: number): Promise<void> {
    const material = { words, corpus: this.#corpus };
    for (let i = 0; i < count; i++) {
      // Half of the time one of the newest.
      const size = this.#corpus.length;
      const back = this.#random(
        this.#random(2) === 0 ? Math.min(size, 16) : size,
      );
      const base = this.#corpus[size - 1 - back]!;
      await this.#try(mutate(base, this.#random, material), true);
    }
  }

  async #try(input: Buffer, isNew: boolean): Promise<void> {
    const { target, onInput, onCrash, out } = this.#options;
    onInput(input);
    counters.fill(0, 0, usedPlaces());
    this.executions++;
    const startedAt = process.cpuUsage();
    try {
      // Targets may change their input.
      const result = target.run(Buffer.from(input));
      if (result !== undefined) await result;
    } catch (error) {
      onCrash(input, error);
      return;
    }
    this.#measure(input, process.cpuUsage(startedAt));
    if (!this.#takeCoverage()) return;
    this.#corpus.push(input);
    if (isNew) writeFileSync(join(out, nameOf(input)), input);
  }

  #measure(input: Buffer, { user, system }: NodeJS.CpuUsage): void {
    const cpuMs = (user + system) / 1000;
    // The first inputs compile the code.
    if (this.executions <= WARM_UP || cpuMs <= this.slowest.cpuMs) return;
    const name = `slowest-${nameOf(input)}`;
    this.slowest = { cpuMs, name };
    writeFileSync(join(this.#options.out, "..", name), input);
  }

  /** @returns whether anything new was reached */
  #takeCoverage(): boolean {
    let isNew = false;
    const end = usedPlaces();
    for (let place = 0; place < end; place++) {
      const count = counters[place]!;
      if (count === 0) continue;
      const bucket = BUCKETS[count]!;
      if ((this.#reached[place]! & bucket) !== 0) continue;
      this.#reached[place]! |= bucket;
      isNew = true;
    }
    return isNew;
  }
}

export function nameOf(input: Uint8Array): string {
  return createHash("sha256").update(input).digest("hex").slice(0, 16);
}

function readInputs(folder: string): Buffer[] {
  try {
    return readdirSync(folder)
      .toSorted()
      .map((name) => readFileSync(join(folder, name)));
  } catch {
    // No corpus yet.
    return [];
  }
}
