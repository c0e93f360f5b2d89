import type { CloudConfig, CloudConfigKind, Store } from "@xo-server/store";
import { Type, type Static } from "typebox";
import { defineOperation, type Operation } from "../operations/operation.js";

const id = Type.String({ minLength: 1, description: "Of a template." });
const name = Type.String({ minLength: 1, maxLength: 1024 });
const template = Type.String({
  minLength: 1,
  description: "For cloud-init; {name} and {index} stand for those of the VM.",
});
const closed = { additionalProperties: false } as const;

const PublicConfig = Type.Object({
  id: Type.String(),
  name: Type.String(),
  template: Type.String(),
});

/** Templates by which guests configure themselves at their first start. */
export function cloudConfigMethods({
  cloudConfigs,
}: Pick<Store, "cloudConfigs">): Operation[] {
  const list = (wanted: CloudConfigKind) =>
    [...cloudConfigs.list()]
      .filter(({ kind }) => kind === wanted)
      .map(toPublic);
  const shared = { permission: "admin", changes: true } as const;

  return [
    defineOperation({
      name: "cloudConfig.getAll",
      summary: "All templates of guests' configurations.",
      params: Type.Object({}),
      result: Type.Array(PublicConfig),
      permission: "user",
      handler: () => list("user"),
    }),
    defineOperation({
      name: "cloudConfig.getAllNetworkConfigs",
      summary: "All templates of guests' network configurations.",
      params: Type.Object({}),
      result: Type.Array(PublicConfig),
      permission: "user",
      handler: () => list("network"),
    }),
    ...(
      [
        ["cloudConfig.create", "user", "A new template of a configuration."],
        [
          "cloudConfig.createNetworkConfig",
          "network",
          "A new template of a network configuration.",
        ],
      ] as const
    ).map(([operation, kind, summary]) =>
      defineOperation({
        ...shared,
        name: operation,
        summary,
        params: Type.Object({ name, template }, closed),
        result: PublicConfig,
        async handler(given) {
          const made = await cloudConfigs.create({
            ...given,
            kind,
          });
          return toPublic(made);
        },
      }),
    ),
    defineOperation({
      ...shared,
      name: "cloudConfig.update",
      summary: "Changes a template; what is not given stays.",
      params: Type.Object(
        { id, name: Type.Optional(name), template: Type.Optional(template) },
        closed,
      ),
      result: Type.Boolean(),
      async handler({ id: configId, ...patch }) {
        await cloudConfigs.update(configId, patch);
        return true;
      },
    }),
    defineOperation({
      ...shared,
      name: "cloudConfig.delete",
      summary: "Deletes a template; VMs that were made with it stay.",
      params: Type.Object({ id }, closed),
      result: Type.Boolean(),
      async handler(params) {
        await cloudConfigs.delete(params.id);
        return true;
      },
    }),
  ];
}

function toPublic(config: CloudConfig): Static<typeof PublicConfig> {
  return { id: config.id, name: config.name, template: config.template };
}
