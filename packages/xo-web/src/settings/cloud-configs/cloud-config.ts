/** A template for cloud-init as `cloudConfig.getAll` returns it, with its kind. */
export interface CloudConfig {
  readonly id: string;
  readonly name: string;
  readonly template: string;
  readonly kind: CloudConfigKind;
}

export const cloudConfigKinds = ["user", "network"] as const;
export type CloudConfigKind = (typeof cloudConfigKinds)[number];

/** Operations that read and create templates of a kind. */
export const operations: Readonly<
  Record<CloudConfigKind, { readonly list: string; readonly create: string }>
> = {
  user: { list: "cloudConfig.getAll", create: "cloudConfig.create" },
  network: {
    list: "cloudConfig.getAllNetworkConfigs",
    create: "cloudConfig.createNetworkConfig",
  },
};

/** Initial texts of new templates. */
export const examples: Readonly<Record<CloudConfigKind, string>> = {
  user: "#cloud-config\nhostname: {name}\nssh_authorized_keys:\n  - ssh-ed25519 AAAA… user@example.org\n",
  network: "version: 2\nethernets:\n  eth0:\n    dhcp4: true\n",
};

/** Problem of a template; undefined: none. */
export function templateInputError(
  kind: CloudConfigKind,
  template: string,
): "required" | "header" | undefined {
  if (template.trim() === "") return "required";
  // Guests ignore user data without a known first line.
  const isKnown =
    /^(#cloud-config|#!|#include|## template: jinja|Content-Type:|MIME-Version:)/;
  return kind === "user" && !isKnown.test(template) ? "header" : undefined;
}
