import { sql } from "kysely";
import { createTable, type Schema, type TableSpec } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

const tables: Readonly<Record<string, TableSpec>> = {
  schedules: {
    columns: {
      id: "text",
      job_id: "text",
      name: "text",
      cron: "text",
      timezone: "text?",
      enabled: "number",
      missed: "text",
      missed_limit_ms: "number?",
      overlap: "text",
      created_at: "number",
      updated_at: "number",
    },
    references: { job_id: "jobs" },
    indexes: [["job_id"]],
  },
  schedule_marks: {
    columns: { id: "text", done_until: "number" },
    references: { id: "schedules" },
  },
  job_runs: {
    columns: {
      id: "text",
      job_id: "text",
      job_name: "text",
      schedule_id: "text?",
      owner: "text",
      user_id: "text?",
      status: "text",
      due_at: "number?",
      started_at: "number",
      ended_at: "number?",
      seen_at: "number",
      task_id: "text?",
      body_json: "text",
    },
    indexes: [["started_at", "id"], ["job_id", "started_at"], ["status"]],
  },
};

/** Members of the body of a job that become its schedule, which gets the id of the job, as clients use it. */
const OF_SCHEDULE = ["schedule", "timezone", "enabled"] as const;

/** A job can have several schedules, its own secrets, and a log of its runs. */
export const schedules: SchemaMigration = {
  isAdditive: false,
  async up(db: Schema) {
    for (const [name, spec] of Object.entries(tables))
      await createTable(db, name, spec);
    await sql`insert into schedules
      (id, job_id, name, cron, timezone, enabled, missed, overlap, created_at, updated_at)
      select id, id, name, schedule, timezone, enabled, 'once', 'skip', created_at, updated_at
      from jobs where schedule is not null`.execute(db);
    for (const column of OF_SCHEDULE)
      await db.schema.alterTable("jobs").dropColumn(column).execute();
    await db.schema
      .alterTable("jobs")
      .addColumn("secret_sealed", "text")
      .execute();
  },
};
