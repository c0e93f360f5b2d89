import type { Store } from "@xo-server/store";
import type { Logger } from "../../log/logger.js";

interface GroupSync {
  readonly userId: string;
  /** Only groups of this provider are changed. */
  readonly provider: string;
  /** Names of the user's groups at the provider. */
  readonly names: readonly string[];
  readonly logger: Logger;
}

/** Limit of the store, in bytes. */
const MAX_NAME_BYTES = 1_024;
const MAX_GROUPS = 1_000;

/**
 * Makes a user a member of exactly the named groups of the provider. A local group
 * with the same name is not used: otherwise an administrator of the provider could
 * obtain any right of this server.
 */
export async function syncGroups(
  groups: Store["groups"],
  sync: GroupSync,
): Promise<void> {
  const { userId, provider } = sync;
  const expected = await toIds(groups, sync);
  const present = groups
    .groupsOf(userId)
    .filter((id) => groups.get(id)?.provider === provider);
  // Groups are removed before others are added, so that a user never has the rights of both.
  for (const id of present)
    if (!expected.has(id)) await groups.removeMember(id, userId);
  for (const id of expected)
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
    else
      logger.warn(
        `group "${name}" of ${provider} ignored: a local group has the same name`,
      );
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
