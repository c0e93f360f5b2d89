export const isLogin = (method: string) =>
  method === "session.login_with_password";
