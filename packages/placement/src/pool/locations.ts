import { InvalidModel } from "../invalid-model.js";
import type { LocationModel } from "../model/pool-model.js";
import type { Numbered } from "./numbered.js";
import { toRagged, type Ragged } from "./ragged.js";
import type { HardLocation } from "./reach.js";

/** Locations by number. */
export interface Locations {
  readonly models: readonly LocationModel[];
  readonly byNumber: readonly HardLocation[];
  /** Of each VM, those with a finite score. */
  readonly soft: Ragged;
  /** Of each VM, the others. */
  readonly hard: Ragged;
}

export function indexLocations(
  given: readonly LocationModel[],
  vms: Numbered,
  hosts: Numbered,
): Locations {
  const models = [...given].sort((a, b) => (a.id < b.id ? -1 : 1));
  const soft = { rows: [] as number[], values: [] as number[] };
  const hard = { rows: [] as number[], values: [] as number[] };
  for (const [location, { id, score, vms: ids }] of models.entries()) {
    if (models[location - 1]?.id === id)
      throw new InvalidModel(`location ${id} is there twice`);
    if (Number.isNaN(score))
      throw new InvalidModel(`location ${id} has a score that is no number`);
    const into = Number.isFinite(score) ? soft : hard;
    for (const vm of new Set(ids)) {
      into.rows.push(vms.of(vm));
      into.values.push(location);
    }
  }
  return {
    models,
    byNumber: models.map(({ hosts: ids, score }) => ({
      score,
      isOnly: score > 0,
      hosts: new Set(ids.map((id) => hosts.of(id))),
    })),
    soft: toRagged(vms.size, soft.rows, soft.values),
    hard: toRagged(vms.size, hard.rows, hard.values),
  };
}
