/** Associated data of each ciphertext: it decrypts only in its own row and column. */
export const sealContext = {
  server: (id: string) => `servers/credentials/${id}`,
  totp: (id: string) => `users/totp/${id}`,
  plugin: (id: string) => `plugins/configuration/${id}`,
  job: (id: string) => `jobs/secret/${id}`,
  alarmRule: (id: string) => `alarm_rules/secret/${id}`,
  cloudConfig: (id: string) => `cloud_configs/template/${id}`,
  backupRepository: (id: string) => `backup_repositories/credentials/${id}`,
  restoreScreenshot: (id: string) => `restore_pictures/picture/${id}`,
  keyCheck: "meta/key-check",
} as const;

export interface SealedColumn {
  readonly column: string;
  readonly contextOf: (id: string) => string;
}

/** All encrypted columns of cached tables, by table. Export, import and key rotation use this list. */
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
  [
    "backup_repositories",
    {
      column: "credentials_sealed",
      contextOf: sealContext.backupRepository,
    },
  ],
  // Templates have passwords and keys of guests.
  ["cloud_configs", { column: "template", contextOf: sealContext.cloudConfig }],
]);
