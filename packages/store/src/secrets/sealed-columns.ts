/** Where each ciphertext belongs: it opens nowhere else. */
export const sealContext = {
  server: (id: string) => `servers/credentials/${id}`,
  totp: (id: string) => `users/totp/${id}`,
  plugin: (id: string) => `plugins/configuration/${id}`,
  job: (id: string) => `jobs/secret/${id}`,
  alarmRule: (id: string) => `alarm_rules/secret/${id}`,
  keyCheck: "meta/key-check",
} as const;

export interface SealedColumn {
  readonly column: string;
  readonly contextOf: (id: string) => string;
}

/** All columns with secrets of people and pools, by table. */
export const sealedColumns: ReadonlyMap<string, SealedColumn> = new Map([
  ["servers", { column: "credentials_sealed", contextOf: sealContext.server }],
  ["users", { column: "totp_sealed", contextOf: sealContext.totp }],
  [
    "plugins",
    { column: "configuration_sealed", contextOf: sealContext.plugin },
  ],
  ["jobs", { column: "secret_sealed", contextOf: sealContext.job }],
  [
    "alarm_rules",
    { column: "secret_sealed", contextOf: sealContext.alarmRule },
  ],
]);
