import { NULL_REF } from "@xo-server/model";
import type { OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import { intParam, refs, textParam } from "../../records/fields.js";

/** Repositories of updates, and when they are queried. */
export const updateOperations: OperationTable = {
  "Repository.introduce": ({ db }, params) => {
    const [name_label, name_description, binary_url, source_url] =
      params as readonly string[];
    for (const url of [binary_url!, source_url!].filter((one) => one !== ""))
      if (!/^https?:\/\/[^/]+\/?/.test(url))
        throw new XapiFailure("INVALID_BASE_URL", [url]);
    if (binary_url === "") throw new XapiFailure("INVALID_BASE_URL", [""]);
    for (const [ref, other] of db.records("Repository"))
      if (other["name_label"] === name_label)
        throw new XapiFailure("REPOSITORY_ALREADY_EXISTS", [ref]);
    return db.create("Repository", {
      name_label: name_label!,
      name_description: name_description!,
      binary_url: binary_url!,
      source_url: source_url!,
      update: params[4] === true,
      gpgkey_path: (params[5] as string | undefined) ?? "",
    });
  },
  "Repository.forget": ({ db, pool }, params) => {
    const repository = textParam(params, 0);
    db.get("Repository", repository);
    if (refs(db.get("pool", pool.poolRef), "repositories").includes(repository))
      throw new XapiFailure("REPOSITORY_IS_IN_USE");
    db.destroy("Repository", repository);
  },
  "pool.set_repositories": ({ db }, params) => {
    const repositories = params[1] as readonly string[];
    for (const repository of repositories) db.get("Repository", repository);
    db.update("pool", textParam(params, 0), { repositories });
  },
  "pool.add_repository": ({ db }, params) => {
    const [pool, repository] = [textParam(params, 0), textParam(params, 1)];
    db.get("Repository", repository);
    const before = refs(db.get("pool", pool), "repositories");
    const repositories = [...new Set([...before, repository])];
    db.update("pool", pool, { repositories });
  },
  "pool.remove_repository": ({ db }, params) => {
    const [pool, repository] = [textParam(params, 0), textParam(params, 1)];
    const before = refs(db.get("pool", pool), "repositories");
    const repositories = before.filter((other) => other !== repository);
    db.update("pool", pool, { repositories });
  },
  "pool.disable_repository_proxy": ({ db }, params) => {
    db.update("pool", textParam(params, 0), {
      repository_proxy_url: "",
      repository_proxy_username: "",
      repository_proxy_password: NULL_REF,
    });
  },
  "pool.configure_update_sync": ({ db }, params) => {
    const [frequency, day] = [textParam(params, 1), intParam(params, 2)];
    // The day of a weekly synchronization, Sunday is 0; a daily one has no day.
    if (day < 0 || day > (frequency === "weekly" ? 6 : 0))
      throw new XapiFailure("INVALID_UPDATE_SYNC_DAY", [String(day)]);
    db.update("pool", textParam(params, 0), {
      update_sync_frequency: frequency,
      update_sync_day: day,
    });
  },
};
