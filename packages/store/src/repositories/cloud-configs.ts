import { checkName, checkText, limits } from "../schema/limits.js";
import { sealContext } from "../secrets/sealed-columns.js";
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

/** cloud-init templates, encrypted: they have passwords and keys of guests. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class CloudConfigs {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get(id: string): CloudConfig | undefined {
    const row = this.#context.tables.cloudConfigs.get(id);
    return row && this.#toCloudConfig(row);
  }

  *list(): IterableIterator<CloudConfig> {
    for (const row of this.#context.tables.cloudConfigs.values())
      yield this.#toCloudConfig(row);
  }

  /** @throws XoError LIMIT_REACHED, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async create({ kind, name, template }: NewCloudConfig): Promise<CloudConfig> {
    const { tables, committer, clock, createId } = this.#context;
    const now = clock.now();
    const id = createId();
    const row: CloudConfigRow = {
      id,
      kind,
      ...this.#toColumns(id, { name, template }),
      created_at: now,
      updated_at: now,
    };
    await committer.run((unit) => tables.cloudConfigs.insert(unit, row));
    return this.#toCloudConfig(row);
  }

  /** @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async update(
    id: string,
    patch: Partial<Pick<CloudConfig, "name" | "template">>,
  ): Promise<CloudConfig> {
    const { tables, committer, clock } = this.#context;
    const { name, template } = this.#toCloudConfig(
      tables.cloudConfigs.require(id),
    );
    const columns = {
      ...this.#toColumns(id, { name, template, ...patch }),
      updated_at: clock.now(),
    };
    return committer.run(async (unit) =>
      this.#toCloudConfig(await tables.cloudConfigs.update(unit, id, columns)),
    );
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.cloudConfigs.require(id);
    await committer.run((unit) => tables.cloudConfigs.remove(unit, id));
  }

  #toColumns(
    id: string,
    { name, template }: Pick<CloudConfig, "name" | "template">,
  ): Pick<CloudConfigRow, "name" | "template"> {
    const text = checkText("the template", template, limits.jsonBytes);
    return {
      name: checkName("the name of a cloud config", name),
      template: this.#context.vault.seal(text, sealContext.cloudConfig(id)),
    };
  }

  #toCloudConfig({ id, kind, name, template }: CloudConfigRow): CloudConfig {
    const context = sealContext.cloudConfig(id);
    return {
      id,
      kind: kind === "network" ? "network" : "user",
      name,
      template: this.#context.vault.open(template, context),
    };
  }
}
