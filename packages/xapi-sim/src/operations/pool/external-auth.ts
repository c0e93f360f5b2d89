import type { Database } from "../../database.js";
import type { CallContext, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiRecord } from "../../xapi-value.js";
import {
  mapParam,
  refs,
  text,
  textParam,
  without,
} from "../../records/fields.js";
import { permissionsOf } from "./roles.js";

/** Users of a directory: hosts join it, subjects are its users and groups. Codes from memory but those of a test. */
export const externalAuthOperations: OperationTable = {
  "pool.enable_external_auth": ({ db }, params) => {
    const joining = joiningOf(params);
    for (const [ref, host] of db.records("host"))
      if (text(host, "external_auth_type") !== "")
        throw new XapiFailure("POOL_AUTH_ALREADY_ENABLED", [ref]);
    for (const host of [...db.refs("host")]) db.update("host", host, joining);
  },
  "pool.disable_external_auth": ({ db }) => {
    for (const host of [...db.refs("host")]) db.update("host", host, left);
  },
  "pool.detect_nonhomogeneous_external_auth": ({ db }) => {
    const joined = [...db.records("host")].map(
      ([, host]) =>
        `${text(host, "external_auth_type")} ${text(host, "external_auth_service_name")}`,
    );
    if (new Set(joined).size > 1)
      throw new XapiFailure("POOL_HOSTS_NOT_HOMOGENEOUS", []);
  },
  "host.enable_external_auth": ({ db }, params) => {
    const host = textParam(params, 0);
    const record = db.get("host", host);
    const joining = joiningOf(params);
    if (text(record, "external_auth_type") !== "")
      throw new XapiFailure("AUTH_ALREADY_ENABLED", [
        text(record, "external_auth_type"),
        text(record, "external_auth_service_name"),
      ]);
    db.update("host", host, joining);
  },
  "host.disable_external_auth": ({ db }, params) => {
    db.update("host", textParam(params, 0), left);
  },
  "subject.create": (context, params) => {
    const record = params[0] as XapiRecord;
    if (!isEnabled(context)) throw new XapiFailure("AUTH_IS_DISABLED");
    for (const [, subject] of context.db.records("subject"))
      if (subject["subject_identifier"] === record["subject_identifier"])
        throw new XapiFailure("SUBJECT_ALREADY_EXISTS");
    return context.db.create("subject", record);
  },
  "subject.add_to_roles": ({ db }, params) => {
    const [subject, role] = [textParam(params, 0), textParam(params, 1)];
    const roles = refs(db.get("subject", subject), "roles");
    if (db.find("role", role) === undefined)
      throw new XapiFailure("ROLE_NOT_FOUND");
    if (roles.includes(role)) throw new XapiFailure("ROLE_ALREADY_EXISTS");
    db.update("subject", subject, { roles: [...roles, role] });
  },
  "subject.remove_from_roles": ({ db }, params) => {
    const [subject, role] = [textParam(params, 0), textParam(params, 1)];
    const roles = refs(db.get("subject", subject), "roles");
    if (!roles.includes(role)) throw new XapiFailure("ROLE_NOT_FOUND");
    const rest = roles.filter((other) => other !== role);
    db.update("subject", subject, { roles: rest });
  },
  "subject.get_permissions_name_label": ({ db }, params) =>
    refs(db.get("subject", textParam(params, 0)), "roles").flatMap((role) =>
      permissionNames(db, role),
    ),
};

const left = {
  external_auth_type: "",
  external_auth_service_name: "",
  external_auth_configuration: {},
};

/** @throws XapiFailure AUTH_UNKNOWN_TYPE: hosts join Active Directory only */
function joiningOf(params: Parameters<OperationTable[string]>[1]): XapiRecord {
  const [, , service, type] = params as readonly string[];
  if (type !== "AD") throw new XapiFailure("AUTH_UNKNOWN_TYPE", [type!]);
  return {
    external_auth_type: type,
    external_auth_service_name: service!,
    external_auth_configuration: without(mapParam(params, 1), "pass"),
  };
}

function isEnabled({ db, pool }: CallContext): boolean {
  const coordinator = db.get("host", pool.coordinatorRef());
  return text(coordinator, "external_auth_type") !== "";
}

function permissionNames(db: Database, role: string): readonly string[] {
  return permissionsOf(db, role).map((ref) =>
    text(db.get("role", ref), "name_label"),
  );
}
