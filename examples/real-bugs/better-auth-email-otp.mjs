/** Better Auth: the same one-time password signs in twice at the same time. */
import { atOnce } from './better-auth.mjs';

/** @param library the library and its plugin, of one version */
export function emailOtp({ betterAuth, emailOTP }) {
  return atOnce({
    betterAuth,
    options: { plugins: [emailOTP({ sendVerificationOTP: async () => {} })] },
    rows: `INSERT INTO verification VALUES ('00000000-0000-4000-8000-000000000002', 'sign-in-otp-ada@example.org', '123456:0');`,
    request: async (auth) => {
      await auth.api.signInEmailOTP({ body: { email: 'ada@example.org', otp: '123456' }, asResponse: true });
    },
    invariant: async ({ query }) => {
      const { length } = await query('SELECT 1 FROM session');
      return length === 1 || `one password made ${length} sessions`;
    },
  });
}
