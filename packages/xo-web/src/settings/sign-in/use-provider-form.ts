import { computed } from "vue";
import type { Json } from "@xo-server/kit";
import { useChange } from "../../forms/use-change.js";
import { fill } from "../../locale/messages.js";
import { useLocale } from "../../locale/use-locale.js";
import { useToasts } from "../../toasts/use-toasts.js";
import type { Provider, ProviderEntries } from "./provider.js";

const providers = {
  ldap: { name: "LDAP", method: "signInProvider.setLdap" },
  oidc: { name: "OpenID Connect", method: "signInProvider.setOidc" },
  saml: { name: "SAML", method: "signInProvider.setSaml" },
} as const;

export type ProviderForm = ReturnType<typeof useProviderForm>;

/** Common behavior of the forms of all providers. @param toConfiguration of the current entries */
export function useProviderForm(
  provider: Provider,
  entries: Pick<ProviderEntries<never>, "enabled">,
  toConfiguration: () => Readonly<Record<string, Json>>,
  onSaved: () => void,
) {
  const { text } = useLocale();
  const toasts = useToasts();
  const change = useChange();
  const texts = computed(() => text.value.signInProviders);
  const { name, method } = providers[provider.id];
  return {
    name,
    texts,
    change,
    /** config.yaml takes precedence. */
    isFixed: provider.source === "config",
    async save(): Promise<void> {
      const { enabled } = entries;
      const configuration = toConfiguration();
      if (!(await change.run(method, { enabled, configuration }))) return;
      toasts.show({ tone: "good", text: fill(texts.value.saved, { name }) });
      onSaved();
    },
    async remove(): Promise<void> {
      const { id } = provider;
      if (!(await change.run("signInProvider.delete", { id }))) return;
      toasts.show({ tone: "good", text: fill(texts.value.deleted, { name }) });
      onSaved();
    },
  };
}
