import type { ConfigurationFiles } from "./configuration-files.js";
import type { MetadataSource } from "./metadata-source.js";

/** Id of the configuration among the backed up items, and name of its file in the backup. */
export const CONFIGURATION = "configuration";

/** The configuration of this server: users, rights, jobs, connections to pools. */
export function configurationSource(
  files: Pick<ConfigurationFiles, "create">,
): MetadataSource {
  return {
    type: "configuration",
    id: CONFIGURATION,
    name: "Configuration of the server",
    describe: () => Promise.resolve({}),
    async read(work, use) {
      const file = await files.create(work.signal);
      try {
        return await use({
          disk: {
            name: CONFIGURATION,
            source: { type: "image", path: file.path },
          },
          secrets: { passphrase: file.passphrase },
        });
      } finally {
        await file.remove();
      }
    },
  };
}
