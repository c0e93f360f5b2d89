import { InvalidModel } from "../model/invalid-model.js";
import type { HostAffinityModel } from "../model/pool-model.js";
import type { IdIndex } from "./id-index.js";
import { toRaggedArray, type RaggedArray } from "./ragged-array.js";
import type { IndexedHostAffinity } from "./eligibility.js";

/** Host affinities by number. */
export interface HostAffinities {
  readonly models: readonly HostAffinityModel[];
  readonly byNumber: readonly IndexedHostAffinity[];
  /** For each VM, its preferred host affinities: those with a finite score. */
  readonly soft: RaggedArray;
  /** For each VM, its required host affinities. */
  readonly hard: RaggedArray;
}

/**
 * Numbers the host affinities in the order of their ids. Those with an infinite
 * score are required, the others preferred.
 * @throws InvalidModel for a duplicate id, a score that is not a number, an
 *   unknown VM or host
 */
export function indexHostAffinities(
  input: readonly HostAffinityModel[],
  vms: IdIndex,
  hosts: IdIndex,
): HostAffinities {
  const models = [...input].sort((a, b) => (a.id < b.id ? -1 : 1));
  const soft = { rows: [] as number[], values: [] as number[] };
  const hard = { rows: [] as number[], values: [] as number[] };
  for (const [hostAffinity, { id, score, vms: ids }] of models.entries()) {
    if (models[hostAffinity - 1]?.id === id)
      throw new InvalidModel(`duplicate host affinity ${id}`);
    if (Number.isNaN(score))
      throw new InvalidModel(`host affinity ${id}: score is not a number`);
    const into = Number.isFinite(score) ? soft : hard;
    for (const vm of new Set(ids)) {
      into.rows.push(vms.of(vm));
      into.values.push(hostAffinity);
    }
  }
  return {
    models,
    byNumber: models.map(({ hosts: ids, score }) => ({
      score,
      isOnly: score > 0,
      hosts: new Set(ids.map((id) => hosts.of(id))),
    })),
    soft: toRaggedArray(vms.size, soft.rows, soft.values),
    hard: toRaggedArray(vms.size, hard.rows, hard.values),
  };
}
