import { toLocation, toUrl, type Repository } from "../repository.js";

/** Values of the form fields, as typed. */
export interface RepositoryEntries {
  kind: "new" | "existing";
  name: string;
  /** A folder or a URL. */
  location: string;
  options: string;
  /** A number, or empty: the default. */
  verifyDays: string;
  passphrase: string;
  again: string;
  parity: boolean;
  /** What opens an existing one. */
  opener: "passphrase" | "recoveryKey";
  recoveryKey: string;
}

type RepositoryInputError =
  | "required"
  | "location"
  | "short"
  | "different"
  | "days";
type RepositoryInputErrors = Partial<
  Record<keyof RepositoryEntries, RepositoryInputError>
>;

/** Characters that the server requires. */
const MIN_PASSPHRASE = 8;
const MAX_DAYS = 3_650;

/**
 * Initial values of the form. @param before undefined: a new repository; secrets
 * of an existing one are not known
 */
export function toEntries(before: Repository | undefined): RepositoryEntries {
  return {
    kind: "new",
    name: before?.name ?? "",
    location: before === undefined ? "" : toLocation(before.url),
    options: before?.options ?? "",
    verifyDays: before?.verifyDays?.toString() ?? "",
    passphrase: "",
    again: "",
    parity: true,
    opener: "passphrase",
    recoveryKey: "",
  };
}

/** @param isEdited an existing entry of the server: it is open already */
export function inputErrorsOf(
  entries: RepositoryEntries,
  isEdited: boolean,
): RepositoryInputErrors {
  const inputErrors: RepositoryInputErrors = {};
  if (entries.name.trim() === "") inputErrors.name = "required";
  const location = entries.location.trim();
  if (location === "") inputErrors.location = "required";
  else if (!/^(\/.|[a-z][a-z0-9+.-]*:\/\/.)/i.test(location))
    inputErrors.location = "location";
  const days = entries.verifyDays.trim();
  if (days !== "" && (!/^\d{1,4}$/.test(days) || Number(days) > MAX_DAYS))
    inputErrors.verifyDays = "days";
  if (isEdited) return inputErrors;
  const isNew = entries.kind === "new";
  if (!isNew && entries.opener === "recoveryKey") {
    if (entries.recoveryKey.trim() === "") inputErrors.recoveryKey = "required";
    return inputErrors;
  }
  if (entries.passphrase.length < MIN_PASSPHRASE)
    inputErrors.passphrase = "short";
  if (isNew && entries.again !== entries.passphrase)
    inputErrors.again = "different";
  return inputErrors;
}

/** Parameters of `remote.create`. */
export function toCreation(
  entries: RepositoryEntries,
): Readonly<Record<string, string | boolean | number>> {
  const { kind, name, location, options, passphrase, opener } = entries;
  const days = entries.verifyDays.trim();
  const common = {
    name: name.trim(),
    url: toUrl(location),
    ...(options.trim() === "" ? {} : { options: options.trim() }),
    ...(days === "" ? {} : { verifyDays: Number(days) }),
  };
  if (kind === "new") return { ...common, passphrase, parity: entries.parity };
  return opener === "recoveryKey"
    ? { ...common, recoveryKey: entries.recoveryKey.trim() }
    : { ...common, passphrase };
}

/** Parameters of `remote.set`. */
export function toChange(
  { name, location, options, verifyDays }: RepositoryEntries,
  before: Repository,
): Readonly<Record<string, string | number | null>> {
  const url = toUrl(location);
  return {
    id: before.id,
    name: name.trim(),
    ...(toLocation(url) === toLocation(before.url) ? {} : { url }),
    options: options.trim() === "" ? null : options.trim(),
    verifyDays: verifyDays.trim() === "" ? null : Number(verifyDays),
  };
}
