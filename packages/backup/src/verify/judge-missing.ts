import type { Manifest } from "../format/manifest.js";
import { packFile } from "../format/pack-layout.js";
import {
  findReplacements,
  missingPacks,
  type Replacements,
} from "../read/replacements.js";
import type { Repository } from "../repository/repository.js";
import type { Finding } from "./finding.js";

interface NeededPacks {
  readonly manifests: readonly Manifest[];
  /** Ids of the backups that need a pack, by its name. */
  readonly needed: Map<string, string[]>;
  readonly signal?: AbortSignal | undefined;
}

/** Adds to `needed` the packs that backups need in place of missing ones. */
export async function addReplacements(
  repository: Repository,
  packs: NeededPacks,
): Promise<void> {
  const { used } = (await find(repository, packs)) ?? {};
  for (const [name, backups] of used ?? []) {
    const ids = new Set([...(packs.needed.get(name) ?? []), ...backups]);
    packs.needed.set(name, [...ids]);
  }
}

/**
 * A pack that is missing is a finding only as far as backups lack content of it; one that was
 * damaged and whose content is in other packs counts as repaired.
 */
export async function judgeMissing(
  repository: Repository,
  findings: readonly Finding[],
  packs: NeededPacks,
): Promise<Finding[]> {
  const isOpen = ({ problem, isRepaired }: Finding) =>
    !isRepaired && (problem === "missing" || problem === "damaged");
  if (!findings.some(isOpen)) return [...findings];
  const replacements = await find(repository, packs);
  if (replacements === undefined) return [...findings];
  const { missing, lost } = replacements;
  const files = new Map([...missing].map((name) => [packFile(name), name]));
  return findings.flatMap((finding) => {
    const name = files.get(finding.file);
    if (name === undefined || !isOpen(finding)) return [finding];
    const backups = lost.get(name);
    if (backups !== undefined) return [{ ...finding, backups: [...backups] }];
    return finding.problem === "missing"
      ? []
      : [{ ...finding, isRepaired: true }];
  });
}

async function find(
  repository: Repository,
  { manifests, needed, signal }: NeededPacks,
): Promise<
  (Replacements & { readonly missing: ReadonlySet<string> }) | undefined
> {
  const files = await repository.packs.list();
  const present = new Set(files.map(({ name }) => name));
  const missing = await missingPacks(repository, needed.keys(), (name) =>
    present.has(packFile(name)),
  );
  const found = await findReplacements(repository, manifests, missing, signal);
  return found && { missing, lost: found.lost, used: found.used };
}
