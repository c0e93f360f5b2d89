import { median } from "../../harness/figures.js";
import { readJob, reportFigures } from "../../measure/job.js";
import type { ApiJob } from "../api-job.js";
import { createPartiallyAuthorizedUsers } from "../partially-authorized-users.js";
import { ListReader, type ListFigures } from "../list-reader.js";
import { MeasuredServer } from "../measured-server.js";

// Reads the same list as an administrator and, alternately, as users who may read half of it.
const job = await readJob<ApiJob>();
const server = await MeasuredServer.start(job);
const users = await createPartiallyAuthorizedUsers(server);
const admin = await ListReader.open(server, server.token);
await admin.all();
await admin.vms();
const figures: Record<string, number> = {};
for (const { name, token } of users) {
  const user = await ListReader.open(server, token);
  await add(name, "xo.getAllObjects", {
    user: () => user.all(),
    admin: () => admin.all(),
  });
  await add(name, "REST vms", {
    user: () => user.vms(),
    admin: () => admin.vms(),
  });
  user.close();
}
admin.close();
await server.stop();
reportFigures(figures);

interface Readers {
  readonly user: () => Promise<ListFigures>;
  readonly admin: () => Promise<ListFigures>;
}

async function add(
  name: string,
  list: string,
  readers: Readers,
): Promise<void> {
  const first = await readers.user();
  const pairs: { user: ListFigures; admin: ListFigures }[] = [];
  for (let i = 0; i < job.scale.lists; i++) {
    const before = i % 2 === 0 ? await readers.admin() : undefined;
    const user = await readers.user();
    pairs.push({ user, admin: before ?? (await readers.admin()) });
  }
  const medianOf = (pick: (pair: (typeof pairs)[number]) => number) =>
    median(pairs.map(pick));
  const share = pairs[0]!.user.bytes / pairs[0]!.admin.bytes;
  const key = `${list}, ${name}`;
  Object.assign(figures, {
    [`${key}/seenShare`]: share,
    [`${key}/firstMs`]: first.totalMs,
    [`${key}/firstCpuMs`]: first.cpuMs,
    [`${key}/ms`]: medianOf(({ user }) => user.totalMs),
    [`${key}/adminMs`]: medianOf((pair) => pair.admin.totalMs),
    [`${key}/cpuMs`]: medianOf(({ user }) => user.cpuMs),
    [`${key}/adminCpuMs`]: medianOf((pair) => pair.admin.cpuMs),
    [`${key}/ratio`]: medianOf(
      ({ user, admin: other }) => user.totalMs / other.totalMs,
    ),
    [`${key}/added`]: medianOf(
      ({ user, admin: other }) => user.totalMs / other.totalMs - share,
    ),
    [`${key}/addedCpu`]: medianOf(
      ({ user, admin: other }) => user.cpuMs / other.cpuMs - share,
    ),
    [`${key}/ratioPerByte`]: medianOf(
      ({ user, admin: other }) => user.totalMs / other.totalMs / share,
    ),
    [`${key}/cpuRatioPerByte`]: medianOf(
      ({ user, admin: other }) => user.cpuMs / other.cpuMs / share,
    ),
    [`${key}/firstCpuRatioPerByte`]:
      first.cpuMs / medianOf((pair) => pair.admin.cpuMs) / share,
    [`${key}/longestOwnBlockMs`]: Math.max(
      first.longestOwnBlockMs,
      ...pairs.map(({ user }) => user.longestOwnBlockMs),
    ),
  });
}
