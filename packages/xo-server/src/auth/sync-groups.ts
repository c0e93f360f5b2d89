import type { Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";

export interface GroupSync {
  readonly userId: string;
  /** Groups of no other are touched. */
  readonly provider: string;
  /** Of the groups that the user is in, as the provider says. */
  readonly names: readonly string[];
  readonly logger: Logger;
}

/** The longest name that the store keeps, in bytes. */
const MAX_NAME_BYTES = 1_024;
const MAX_GROUPS = 1_000;

/**
 * Makes a user a member of exactly the provider's groups that it names. A
 * group of ours with the same name is not one of them: whoever names groups
 * there could otherwise take any right here.
 */
export async function syncGroups(
  groups: Store["groups"],
  sync: GroupSync,
): Promise<void> {
  const { userId, provider } = sync;
  const wanted = await toIds(groups, sync);
  const present = groups
    .groupsOf(userId)
    .filter((id) => groups.get(id)?.provider === provider);
  // Rights go before others come.
  for (const id of present)
    if (!wanted.has(id)) await groups.removeMember(id, userId);
  for (const id of wanted)
    if (!present.includes(id)) await groups.addMember(id, userId);
}

async function toIds(
  groups: Store["groups"],
  { provider, names, logger }: GroupSync,
): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const name of [...new Set(names)].slice(0, MAX_GROUPS)) {
    if (!isStorable(name)) continue;
    const known =
      groups.findByName(name) ?? (await groups.create(name, provider));
    if (known.provider === provider) ids.add(known.id);
    else logger.warn(`${provider} has a group ${name}, and so have we`);
  }
  return ids;
}

function isStorable(name: string): boolean {
  return (
    name.trim() !== "" &&
    Buffer.byteLength(name) <= MAX_NAME_BYTES &&
    !/\0|\p{Surrogate}/u.test(name)
  );
}
