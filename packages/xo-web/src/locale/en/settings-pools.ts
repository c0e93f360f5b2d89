export const settingsPools = {
  inputErrors: {
    required: "Required.",
    minLength: "Required.",
    maxLength: "Too long.",
    pattern: "Invalid format.",
    minimum: "Value too small.",
    maximum: "Value too large.",
    enum: "Not an allowed value.",
    type: "Wrong type.",
  },
  certificate: {
    heading: "Host certificate",
    trusted: "The certificate is signed by a trusted authority.",
    distrust: {
      selfSigned:
        "The certificate of {address} is self-signed, which is the default of XAPI. Verify its fingerprint.",
      expired: "The certificate of {address} has expired.",
      notYet: "The certificate of {address} is not valid yet.",
      otherName: "The certificate of {address} was issued for another name.",
      unknownAuthority:
        "The certificate of {address} is signed by an unknown authority.",
      unnamed: "The certificate of {address} is not trusted.",
    },
    fingerprint: "SHA-256 fingerprint",
    before: "Accepted certificate",
    subject: "Subject",
    issuer: "Issuer",
    itself: "self-signed",
    names: "Names",
    valid: "Validity",
    validValue: "{from} to {to}",
  },
  poolForm: {
    plainHttp:
      "Without TLS the password of the pool is sent unencrypted and the host is not verified. Use https:// outside of test networks.",
    host: "Host address",
    hostHint: "Host name or IP address, with :port if it is not 443.",
    username: "User name",
    usernameHint:
      "A user of the pool with sufficient permissions, usually root.",
    password: "Password",
    passwordKept: "Leave empty to keep the current password.",
    passwordMissing: "A password is required.",
    seenBy:
      "This server does not reach the host. Server {server} does, and has received this certificate; the pool will be connected through it.",
    label: "Display name",
    labelHint: "Empty: the address.",
    readOnly: "Read-only",
    readOnlyHint: "Operations that change the pool are rejected.",
    inputErrors: {
      empty: "Address required, such as 192.0.2.10 or xen1.example.net.",
      scheme: "Only https:// and http:// are allowed.",
      login: "Enter user name and password in their own fields.",
      port: "The port must be between 1 and 65535.",
      name: "Not a valid host name or IP address.",
    },
    problems: {
      "name-not-found":
        "The host name cannot be resolved. Check the spelling, or use the IP address.",
      refused:
        "Connection refused. Check that the toolstack of the host is running.",
      "timed-out":
        "Connection timeout. Check that the host is powered on and that no firewall drops the connection.",
      unreachable:
        "The server has no route to this address. Check its network.",
      "not-tls":
        "The port does not use TLS. Check the port, or prefix the address with http:// to connect without encryption.",
      proxy: "The proxy rejects the connection.",
      "not-a-xapi": "The address is not a XenServer or XCP-ng host.",
      starting: "The host is starting. Try again in a minute.",
      member:
        "This host is a pool member. The coordinator of the pool is {coordinator}.",
    },
    useCoordinator: "Use {coordinator}",
    connect: "Connect",
    connecting: "Connecting…",
    back: "Back",
    accept: "Accept certificate and connect",
    compare: "Compare the fingerprint with the fingerprint on the host:",
    changed:
      "The certificate differs from the accepted certificate. If the host was not reinstalled and its certificate was not replaced, the connection may be intercepted. Compare the fingerprint:",
    onConsole: "on its local console, in xsconsole under “Status Display”, or",
    onShell: "in a shell on the host:",
    meaning:
      "The password is sent only to a host with this certificate. Certificates of the other pool members are accepted on first connection.",
  },
  serverError: {
    expected: "Accepted fingerprint",
    shown: "Current fingerprint",
    todos: {
      SESSION_AUTHENTICATION_FAILED:
        "Wrong user name or password. Correct them here.",
      RBAC_PERMISSION_DENIED:
        "This user has insufficient permissions. Use a user with the role Pool Admin.",
      CONNECTION_REFUSED:
        "Check that the host is running and that address and port are correct. The server retries automatically.",
      CONNECTION_LOST: "The server reconnects automatically.",
      UNREACHABLE:
        "Check the address, and the network between server and host.",
      CONNECTION_TIMEOUT:
        "Check that the host is powered on and that no firewall drops the connection. The server retries automatically.",
      NO_CANDIDATE:
        "No pool member is reachable. The server retries all members.",
      TLS_UNTRUSTED: "The certificate is not trusted. Verify and accept it.",
      TLS_FINGERPRINT_MISMATCH:
        "The certificate differs from the accepted certificate. The server did not sign in. If the host was reinstalled, verify and accept the new certificate.",
      HOST_STILL_BOOTING:
        "No action required. The server connects when the host is up.",
      HTTP_STATUS:
        "Check that the address belongs to a XenServer or XCP-ng host.",
      BAD_ANSWER:
        "Check that the address belongs to a XenServer or XCP-ng host.",
      SECRET_DAMAGED:
        "The stored password cannot be decrypted. Enter it again.",
      STORE_KEY_WRONG:
        "The stored password cannot be decrypted. Enter it again.",
      fallback: "See the error message below.",
    },
  },
  servers: {
    lead: "Connections to pools. Changes take effect immediately. Pools of config.yaml can only be changed there.",
    add: "Connect a pool",
    edit: "Connection to {name}",
    saved: "Connection settings saved.",
    state: "State",
    name: "Name",
    pool: "Pool",
    trust: "Certificate",
    transport: "Transport",
    none: "No pools connected",
    noneLead: "Connect the first pool with address, user name and password.",
    origins: { config: "see config.yaml", demo: "simulated" },
    pinned: "accepted: {start}…",
    noCertificate: "none: the password is sent unencrypted",
    anyCertificate: "not verified",
    verified: "verified by authorities",
    readOnly: "read-only",
    objects: { one: "{n} object", other: "{n} objects" },
    actions: "Actions for {name}",
    enable: "Connect",
    disable: "Disconnect",
    remove: "Remove",
    removed: "{name} removed.",
    removeQuestion: "Remove {name}?",
    removeLead:
      "The connection, its password and its accepted certificate are deleted. Nothing is changed in the pool.",
    remedies: {
      login: "Correct user name or password",
      certificate: "Verify certificate",
      address: "Correct address",
    },
  },
};
