import type { Action, Limits, Plan, PoolModel } from "@xo-server/placement";
import { SeededRandom } from "./seeded-random.js";
import { Standing } from "./standing.js";

export interface CheckOptions {
  readonly limits?: Limits;
  readonly seed?: number;
  /**
   * Number of random execution orders that are tried, besides one by one and as
   * parallel as possible.
   */
  readonly orders?: number;
}

/**
 * Executes a plan in many orders that it allows, and checks at every step that
 * no rule is violated that was not violated before.
 * @returns what is wrong; empty: nothing
 */
export function checkPlan(
  model: PoolModel,
  plan: Plan,
  { limits = {}, seed = 1, orders = 8 }: CheckOptions = {},
): string[] {
  const wrong = checkShape(plan);
  if (wrong.length > 0) return wrong;
  const random = new SeededRandom(seed);
  const run = (choose: Choose) => new Run(model, plan, limits).go(choose);
  wrong.push(...run(oneByOne), ...run(asManyAsCanBe));
  for (let order = 0; order < orders; order++)
    wrong.push(...run((begin, end) => random.pick([...begin, ...end])));
  return [...new Set(wrong)];
}

/** Host of each VM after the plan. */
export function afterPlan(model: PoolModel, plan: Plan): Standing {
  const standing = new Standing(model);
  for (const { kind, vm, to } of plan.actions) {
    if (kind === "migrate") standing.remove(vm);
    standing.put(vm, to);
  }
  return standing;
}

function checkShape({ actions, unplaced }: Plan): string[] {
  const wrong: string[] = [];
  for (const [index, { vm, after, kind, from, to }] of actions.entries()) {
    if (after.some((one) => !(one >= 0 && one < index)))
      wrong.push(`${index}: after ${after.join()}`);
    if ((kind === "migrate") !== (from !== undefined))
      wrong.push(`${index}: a ${kind} from ${from}`);
    if (from === to) wrong.push(`${index}: ${vm} moves to where it is`);
  }
  const started = actions.filter(({ kind }) => kind === "start");
  const names = [...started, ...unplaced].map(({ vm }) => vm);
  if (new Set(names).size < names.length)
    wrong.push("a VM starts twice, or starts and is unplaced");
  return wrong;
}

/** Index of an action to begin from `begin`, or to end from `end`. */
type Choose = (begin: readonly number[], end: readonly number[]) => number;

const oneByOne: Choose = (begin, end) => end[0] ?? begin[0]!;
const asManyAsCanBe: Choose = (begin, end) => begin[0] ?? end[0]!;

/** One execution of a plan. */
class Run {
  readonly #standing: Standing;
  readonly #actions: readonly Action[];
  readonly #waiting: Set<number>;
  readonly #going = new Set<number>();
  readonly #ended = new Set<number>();
  readonly #wrong: string[] = [];

  constructor(model: PoolModel, plan: Plan, limits: Limits) {
    this.#standing = new Standing(model, limits);
    this.#actions = plan.actions;
    this.#waiting = new Set(plan.actions.keys());
  }

  go(choose: Choose): readonly string[] {
    while (this.#waiting.size + this.#going.size > 0) {
      const begin = [...this.#waiting].filter((index) =>
        this.#actions[index]!.after.every((one) => this.#ended.has(one)),
      );
      const index = choose(begin, [...this.#going]);
      if (this.#going.has(index)) this.#end(index);
      else this.#begin(index);
    }
    this.#checkTogether();
    return this.#wrong;
  }

  #begin(index: number): void {
    const { kind, vm, from, to } = this.#actions[index]!;
    const standing = this.#standing;
    this.#waiting.delete(index);
    this.#going.add(index);
    if (standing.homes.get(vm) !== from)
      this.#say(index, `is on ${standing.homes.get(vm)}`);
    if (this.#moves(vm) > 1) this.#say(index, "is migrating already");
    if (kind === "start" && standing.countedOn(to).some(({ id }) => id === vm))
      this.#say(index, "is on its target already");
    const refusals = standing.refusals(vm, to);
    // Affinity may be violated during execution.
    if (standing.isApart(vm, to)) refusals.delete("group");
    if (refusals.size > 0) this.#say(index, [...refusals].join());
    standing.count(vm, to);
  }

  #end(index: number): void {
    const { vm, from, to } = this.#actions[index]!;
    this.#going.delete(index);
    this.#ended.add(index);
    if (from !== undefined) this.#standing.uncount(vm, from);
    this.#standing.put(vm, to);
  }

  #moves(vm: string): number {
    return [...this.#going].filter((one) => this.#actions[one]!.vm === vm)
      .length;
  }

  #checkTogether(): void {
    for (const [index, { vm }] of this.#actions.entries())
      if (!this.#standing.isTogether(vm, this.#standing.homes.get(vm)!))
        this.#say(index, "is not on the host of its affinity group at the end");
  }

  #say(index: number, what: string): void {
    const { kind, vm, from = "nowhere", to } = this.#actions[index]!;
    this.#wrong.push(`${index}: ${kind} ${vm} ${from} > ${to}: ${what}`);
  }
}
