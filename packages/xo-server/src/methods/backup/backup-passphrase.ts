import { Type } from "typebox";
import { change, closed, FOLDER, id, passphrase } from "./backup-repository.js";
import { defineOperation } from "../definition/define-operation.js";
import { actionRoute } from "../definition/on-object.js";
import { requireUser } from "../auth/token.js";

const passphraseName = Type.String({
  pattern: "^[A-Za-z0-9_-]{1,64}$",
  description: "Name of the passphrase.",
});

const Passphrases = Type.Array(Type.String(), {
  description: "Names of all passphrases.",
});

const backupRepositoryAddPassphrase = defineOperation({
  name: "backupRepository.addPassphrase",
  summary: "Add a passphrase that opens a backup repository.",
  params: Type.Object({ id, name: passphraseName, passphrase }, closed),
  ...change,
  result: Passphrases,
  rest: actionRoute(
    `${FOLDER}/{id}/actions/add_passphrase`,
    "AddBackupRepositoryPassphrase",
  ),
  handler: async ({ id, ...added }, { services }) =>
    services.backupRepositories.changePassphrases(id, {
      type: "add-passphrase",
      ...added,
    }),
});

const backupRepositoryRemovePassphrase = defineOperation({
  name: "backupRepository.removePassphrase",
  summary:
    "Remove a passphrase of a backup repository. Anyone who knows it and has a copy of the repository can still open that copy.",
  params: Type.Object({ id, name: passphraseName }, closed),
  ...change,
  result: Passphrases,
  rest: actionRoute(
    `${FOLDER}/{id}/actions/remove_passphrase`,
    "RemoveBackupRepositoryPassphrase",
  ),
  handler: async ({ id, name }, { services }) =>
    services.backupRepositories.changePassphrases(id, {
      type: "remove-passphrase",
      name,
    }),
});

const password = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: "Password of the current user.",
});

const backupRepositoryGetRecoverySheet = defineOperation({
  name: "backupRepository.getRecoverySheet",
  summary:
    "Return the recovery sheet of a backup repository. Requires the password of the current user.",
  params: Type.Object({ id, password }, closed),
  ...change,
  result: Type.Object({
    recoverySheet: Type.String({
      description:
        "Recovery sheet, to be printed: it opens the repository without a passphrase.",
    }),
  }),
  handler: async ({ id, password }, context) => {
    const { services, address } = context;
    const { name } = requireUser(context);
    await services.signIn.checkPassword({ name, password }, address);
    const { recoverySheet } = await services.backupRepositories.run<{
      recoverySheet: string;
    }>(id, { type: "recovery-sheet" });
    return { recoverySheet };
  },
});

/** Passphrases and recovery sheets of backup repositories. */
export const backupPassphraseOperations = [
  backupRepositoryAddPassphrase,
  backupRepositoryRemovePassphrase,
  backupRepositoryGetRecoverySheet,
];
