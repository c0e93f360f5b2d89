import { checkName, checkText, limits } from "../schema/limits.js";
import type { CloudConfigRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** `user-data` or `network-config` of cloud-init. */
export type CloudConfigKind = "user" | "network";

/** A cloud-init template, applied at the first start of a guest. */
export interface CloudConfig {
  readonly id: string;
  readonly kind: CloudConfigKind;
  readonly name: string;
  readonly template: string;
}

export type NewCloudConfig = Omit<CloudConfig, "id">;

/** cloud-init templates. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class CloudConfigs {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get(id: string): CloudConfig | undefined {
    const row = this.#context.tables.cloudConfigs.get(id);
    return row && toCloudConfig(row);
  }

  *list(): IterableIterator<CloudConfig> {
    for (const row of this.#context.tables.cloudConfigs.values())
      yield toCloudConfig(row);
  }

  /** @throws XoError LIMIT_REACHED, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async create({ kind, name, template }: NewCloudConfig): Promise<CloudConfig> {
    const { tables, committer, clock, createId } = this.#context;
    const now = clock.now();
    const row: CloudConfigRow = {
      id: createId(),
      kind,
      ...columnsOf({ name, template }),
      created_at: now,
      updated_at: now,
    };
    await committer.run((unit) => tables.cloudConfigs.insert(unit, row));
    return toCloudConfig(row);
  }

  /** @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async update(
    id: string,
    patch: Partial<Pick<CloudConfig, "name" | "template">>,
  ): Promise<CloudConfig> {
    const { tables, committer, clock } = this.#context;
    const { name, template } = tables.cloudConfigs.require(id);
    const columns = {
      ...columnsOf({ name, template, ...patch }),
      updated_at: clock.now(),
    };
    return committer.run(async (unit) =>
      toCloudConfig(await tables.cloudConfigs.update(unit, id, columns)),
    );
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.cloudConfigs.require(id);
    await committer.run((unit) => tables.cloudConfigs.remove(unit, id));
  }
}

function columnsOf({
  name,
  template,
}: Pick<CloudConfig, "name" | "template">): { name: string; template: string } {
  return {
    name: checkName("the name of a cloud config", name),
    template: checkText("the template", template, limits.jsonBytes),
  };
}

function toCloudConfig(row: CloudConfigRow): CloudConfig {
  return {
    id: row.id,
    kind: row.kind === "network" ? "network" : "user",
    name: row.name,
    template: row.template,
  };
}
