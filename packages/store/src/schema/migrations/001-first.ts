import { createTable, type Schema, type TableSpec } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** The tables of version 0.1, referenced tables first. */
const tables: Readonly<Record<string, TableSpec>> = {
  meta: { columns: { id: "text", value: "text" } },
  table_versions: { columns: { id: "text", version: "number" } },
  settings: {
    columns: { id: "text", value_json: "text", updated_at: "number" },
  },
  servers: {
    columns: {
      id: "text",
      host: "text",
      username: "text",
      credentials_sealed: "text",
      label: "text",
      enabled: "number",
      options_json: "text",
      created_at: "number",
      updated_at: "number",
    },
    unique: [["host"]],
  },
  users: {
    columns: {
      id: "text",
      name: "text",
      password_hash: "text?",
      permission: "text",
      preferences_json: "text",
      providers_json: "text",
      totp_sealed: "text?",
      totp_step: "number",
      created_at: "number",
      updated_at: "number",
    },
    unique: [["name"]],
  },
  groups: {
    columns: {
      id: "text",
      name: "text",
      provider: "text?",
      created_at: "number",
    },
    unique: [["name"]],
  },
  memberships: {
    columns: { id: "text", group_id: "text", user_id: "text" },
    references: { group_id: "groups", user_id: "users" },
    indexes: [["group_id"], ["user_id"]],
  },
  tokens: {
    columns: {
      id: "text",
      hash: "text",
      salt: "text?",
      user_id: "text",
      client_id: "text?",
      description: "text",
      created_at: "number",
      expires_at: "number",
      last_used_at: "number?",
      last_address: "text?",
    },
    references: { user_id: "users" },
    unique: [["hash"], ["user_id", "client_id"]],
  },
  roles: {
    columns: {
      id: "text",
      name: "text",
      description: "text",
      is_template: "number",
      created_at: "number",
    },
    unique: [["name"]],
  },
  privileges: {
    columns: {
      id: "text",
      role_id: "text",
      effect: "text",
      resource: "text",
      action: "text",
      selector_json: "text?",
    },
    references: { role_id: "roles" },
    indexes: [["role_id"]],
  },
  grants: {
    columns: {
      id: "text",
      role_id: "text",
      subject_type: "text",
      subject_id: "text",
    },
    references: { role_id: "roles" },
    unique: [["role_id", "subject_type", "subject_id"]],
    indexes: [["subject_id"]],
  },
  acls: {
    columns: { id: "text", subject: "text", object: "text", action: "text" },
    unique: [["subject", "object", "action"]],
  },
  jobs: {
    columns: {
      id: "text",
      name: "text",
      type: "text",
      user_id: "text?",
      enabled: "number",
      schedule: "text?",
      timezone: "text?",
      body_json: "text",
      created_at: "number",
      updated_at: "number",
    },
  },
  tasks: {
    columns: {
      id: "text",
      owner: "text",
      name: "text",
      status: "text",
      user_id: "text?",
      object_id: "text?",
      started_at: "number",
      updated_at: "number",
      ended_at: "number?",
      body_json: "text",
    },
    indexes: [
      ["started_at", "id"],
      ["status", "owner"],
    ],
  },
  audit: {
    columns: {
      seq: "number",
      time: "number",
      user_id: "text?",
      user_name: "text?",
      address: "text?",
      operation: "text",
      object_id: "text?",
      parameters_json: "text",
      outcome: "text",
      error_code: "text?",
      task_id: "text?",
      previous: "text",
      hash: "text",
    },
    key: "seq",
    indexes: [["time"]],
  },
  audit_head: {
    columns: { id: "text", seq: "number", hash: "text", seal: "text" },
  },
};

export const first: SchemaMigration = {
  isAdditive: false,
  async up(db: Schema) {
    for (const [name, spec] of Object.entries(tables))
      await createTable(db, name, spec);
  },
};
