/** Better Auth: the same token resets a password twice at the same time, to another password each. */
import { ada, atOnce } from './better-auth.mjs';

/** @param betterAuth the library, of one version */
export function resetPassword(betterAuth) {
  const plain = { hash: async (password) => password, verify: async ({ hash, password }) => hash === password };
  return atOnce({
    betterAuth,
    options: { emailAndPassword: { enabled: true, password: plain } },
    rows: `
      INSERT INTO account (id, "accountId", "providerId", "userId", password) VALUES ('${ada}', '${ada}', 'credential', '${ada}', 'forgotten');
      INSERT INTO verification VALUES ('00000000-0000-4000-8000-000000000002', 'reset-password:token', '${ada}');`,
    request: async (auth, name) => {
      const body = { token: 'token', newPassword: `password of ${name}` };
      return (await auth.api.resetPassword({ body, asResponse: true })).status;
    },
    invariant: ({ results: { alice, bob } }) =>
      [alice, bob].filter((status) => status === 200).length === 1 || 'one token changed the password twice',
  });
}
