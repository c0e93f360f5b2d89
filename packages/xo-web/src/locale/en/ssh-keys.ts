export const sshKeys = {
  heading: "SSH keys",
  lead: "Public keys that are offered when you create VMs with cloud-init. Stored with your account.",
  add: "Add SSH key",
  key: "Public key",
  keyHint: "One line, the content of a file such as ~/.ssh/id_ed25519.pub.",
  title: "Title",
  type: "Type",
  comment: "Comment",
  remove: "Delete SSH key {title}",
  removeQuestion: "Delete SSH key {title}?",
  removeLead:
    "It is no longer offered when VMs are created. VMs that have it keep it.",
  inputErrors: {
    required: "Required.",
    private: "This is a private key. Use the file that ends with .pub.",
    line: "The key must be one line.",
    format: "Not a public key in OpenSSH's format.",
    title: "Another key has this title.",
  },
};
