import { XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import type { RepositoryRecord } from "../../backups/repositories/repository-record.js";
import { findRepository, REPOSITORY_TYPE as TYPE } from "./find-repository.js";
import { PublicRepository, toPublic, verifyDays } from "./public-repository.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { actionRoute, idOf } from "../definition/on-object.js";

export const FOLDER = "/backup-repositories";
const ID = "00000000-0000-4000-8000-000000000004";
export const closed = { additionalProperties: false } as const;
const MIB = 1024 * 1024;
const BENCHMARK_BYTES = 64 * MIB;

export const id = idOf("a backup repository");
const name = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "Name of the repository.",
});
const url = Type.String({
  minLength: 1,
  maxLength: 2048,
  // Parsers of URLs ignore line breaks, while the masks of secrets do not.
  pattern: "^[^\\u0000-\\u001f]*$",
  description:
    "file:///absolute/path: a folder, or a mount. s3://ACCESS_KEY:SECRET_KEY@HOST[:PORT]/BUCKET[/PREFIX]?region=REGION: an object store; the secret key is stored encrypted and never returned. s3+http:// or protocol=http: without TLS. Other options: path_style, useVirtualHostedStyle, fingerprint (SHA-256 of the certificate), allowUnauthorized.",
});
const options = Type.String({
  maxLength: 1024,
  description:
    "Mount options, stored as a note: the server itself mounts nothing.",
});
const proxy = Type.Union([Type.String({ maxLength: 0 }), Type.Null()], {
  description: "Proxies are not supported.",
});
export const passphrase = Type.String({ minLength: 8, maxLength: 1024 });

const example = {
  id: ID,
  name: "nightly",
  url: "file:///mnt/backups",
  enabled: true,
};

function listFor({
  services,
  user,
}: Pick<OperationContext, "services" | "user">): PublicRepository[] {
  return services.backupRepositories
    .all()
    .map(toPublic)
    .filter((one) => user?.rights.may("read", TYPE, one) === true);
}

const route = (
  method: RestRoute["method"],
  path: string,
  operationId: string,
): RestRoute => ({
  method,
  path: `${FOLDER}${path}`,
  operationId,
  exposure: method === "get" ? "allow" : "confirm",
});

export const change = { permission: "admin", changes: true } as const;

const remoteGetAll = defineOperation({
  name: "remote.getAll",
  summary:
    "List the backup repositories with their state at the last inspection.",
  params: Type.Object({}),
  result: Type.Array(PublicRepository),
  permission: "user",
  rest: { ...route("get", "", "GetRepositories"), example: [example] },
  handler: (_params, context) => listFor(context),
});

const remoteGet = defineOperation({
  name: "remote.get",
  summary: "Return a backup repository with its state at the last inspection.",
  params: Type.Object({ id }, closed),
  result: PublicRepository,
  permission: "user",
  rest: { ...route("get", "/{id}", "GetRepository"), example },
  handler: ({ id }, context) => toPublic(findRepository(context, "read", id)),
});

const remoteGetAllInfo = defineOperation({
  name: "remote.getAllInfo",
  summary:
    "Return the size and the free space of each backup repository at the last inspection, in bytes.",
  params: Type.Object({}),
  result: Type.Record(Type.String(), Type.Unknown()),
  permission: "user",
  handler: (_params, context) =>
    Object.fromEntries(
      listFor(context).map(({ id, encryption, state }) => {
        const { capacity, available, stored } =
          state as RepositoryRecord["state"];
        return [
          id,
          {
            encryption: { ...encryption, isLegacy: false },
            ...(stored === undefined ? {} : { used: stored }),
            ...(capacity === undefined ? {} : { size: capacity }),
            ...(available === undefined ? {} : { available }),
          },
        ];
      }),
    ),
});

const remoteCreate = defineOperation({
  name: "remote.create",
  summary:
    "Add a backup repository: open the one at this URL, or create one in an empty folder. Returns it, with the recovery sheet of a new one.",
  params: Type.Object(
    {
      name,
      url,
      options: Type.Optional(options),
      proxy: Type.Optional(proxy),
      passphrase: Type.Optional({
        ...passphrase,
        description:
          "Passphrase of an existing repository, or to set for a new one. Without it a new repository can be opened only with its recovery key.",
      }),
      recoveryKey: Type.Optional(
        Type.String({
          maxLength: 256,
          description:
            "Recovery key of an existing repository, from its recovery sheet.",
        }),
      ),
      parity: Type.Optional(
        Type.Boolean({
          description:
            "Whether a new repository has parity files: about 6 % more space, damaged files can be repaired. Default: true.",
        }),
      ),
      verifyDays: Type.Optional(verifyDays),
    },
    closed,
  ),
  ...change,
  result: Type.Object({
    ...PublicRepository.properties,
    recoverySheet: Type.Optional(
      Type.String({
        description:
          "Recovery sheet, to be printed and stored in another place.",
      }),
    ),
  }),
  rest: {
    ...route("post", "", "CreateBackupRepository"),
    exposure: "deny",
    status: 201,
  },
  handler: async (input, { services }) => {
    const { backupRepositories, backupMaintenance } = services;
    const { id, ...more } = await backupRepositories.add(input);
    // An existing one, whose sizes are not known yet.
    if (more.recoverySheet === undefined) backupMaintenance.inspectSoon(id);
    return { ...toPublic(backupRepositories.get(id)), ...more };
  },
});

const remoteSet = defineOperation({
  name: "remote.set",
  summary:
    "Change a backup repository. A new URL must lead to the same repository.",
  params: Type.Object(
    {
      id,
      name: Type.Optional(name),
      url: Type.Optional(url),
      options: Type.Optional(Type.Union([options, Type.Null()])),
      proxy: Type.Optional(proxy),
      enabled: Type.Optional(
        Type.Boolean({ description: "Whether jobs may use the repository." }),
      ),
      verifyDays: Type.Optional(Type.Union([verifyDays, Type.Null()])),
    },
    closed,
  ),
  ...change,
  result: Type.Boolean(),
  rest: {
    ...route("patch", "/{id}", "UpdateBackupRepository"),
    exposure: "deny",
    status: 204,
  },
  handler: async ({ id, options, ...patch }, { services }) => {
    const { name, url, enabled, verifyDays } = patch;
    await services.backupRepositories.update(id, {
      name,
      url,
      enabled,
      verifyDays,
      ...(options === undefined ? {} : { options: options ?? "" }),
    });
    return true;
  },
});

const remoteDelete = defineOperation({
  name: "remote.delete",
  summary:
    "Remove a backup repository from the server. Its files and backups are not deleted.",
  params: Type.Object({ id }, closed),
  ...change,
  result: Type.Boolean(),
  rest: actionRoute(`${FOLDER}/{id}/actions/forget`, "ForgetBackupRepository", {
    status: 204,
  }),
  handler: async ({ id }, { services }) => {
    await services.backupRepositories.forget(id);
    return true;
  },
});

const TestResult = Type.Object({
  success: Type.Boolean(),
  readRate: Type.Optional(Type.Number()),
  writeRate: Type.Optional(Type.Number()),
  step: Type.Optional(Type.String()),
  error: Type.Optional(
    Type.Object({ code: Type.String(), message: Type.String() }),
  ),
});

/** Opens the repository, writes, reads and removes a file. */
async function test(
  { services, signal }: OperationContext,
  id: string,
): Promise<Static<typeof TestResult>> {
  try {
    const result = await services.backupRepositories.benchmark(
      id,
      BENCHMARK_BYTES,
      signal,
    );
    return { success: true, ...result };
  } catch (error) {
    if (!(error instanceof XoError) || !error.code.startsWith("BACKUP_"))
      throw error;
    const { code, message } = error;
    return { success: false, step: "open", error: { code, message } };
  }
}

const remoteTest = defineOperation({
  name: "remote.test",
  summary:
    "Test a backup repository: open it, write, read and delete a file of 64 MiB.",
  params: Type.Object({ id }, closed),
  permission: "admin",
  changes: true,
  result: TestResult,
  handler: ({ id }, context) => test(context, id),
});

const backupRepositoryBenchmark = defineOperation({
  name: "backupRepository.benchmark",
  summary: "Measure the write and read throughput of a backup repository.",
  params: Type.Object({ id }, closed),
  permission: "admin",
  changes: true,
  result: Type.Object({
    readRate: Type.Number({ description: "Bytes per second." }),
    writeRate: Type.Number({ description: "Bytes per second." }),
  }),
  rest: actionRoute(
    `${FOLDER}/{id}/actions/benchmark`,
    "BenchmarkBackupRepository",
  ),
  handler: ({ id }, { services, signal }) =>
    services.backupRepositories.benchmark(id, BENCHMARK_BYTES, signal),
});

const backupRepositoryHealth = defineOperation({
  name: "backupRepository.health",
  summary:
    "Check the health of a backup repository: open it. Returns whether that succeeded, or the error.",
  params: Type.Object({ id }, closed),
  permission: "user",
  result: TestResult,
  rest: {
    ...route("get", "/{id}/health", "GetBackupRepositoryHealth"),
    example: { success: true },
  },
  handler: async ({ id }, context) => {
    findRepository(context, "read", id);
    try {
      await context.services.backupRepositories.inspect(id, context.signal);
      return { success: true };
    } catch (error) {
      if (!(error instanceof XoError) || !error.code.startsWith("BACKUP_"))
        throw error;
      const { code, message } = error;
      return { success: false, step: "open", error: { code, message } };
    }
  },
});

/** Backup repositories; named as in Xen Orchestra where it has the operation. */
export const backupRepositoryOperations = [
  remoteGetAll,
  remoteGet,
  remoteGetAllInfo,
  remoteCreate,
  remoteSet,
  remoteDelete,
  remoteTest,
  backupRepositoryBenchmark,
  backupRepositoryHealth,
];
