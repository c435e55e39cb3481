/** Better Auth: two requests, of which the limit admits one. */
import { atOnce } from './better-auth.mjs';

/** @param betterAuth the library, of one version */
export function rateLimit(betterAuth) {
  return atOnce({
    betterAuth,
    options: { rateLimit: { enabled: true, storage: 'database', window: 60, max: 1 } },
    request: async (auth) => {
      const headers = { 'x-forwarded-for': '192.0.2.1' };
      return (await auth.handler(new Request('http://localhost/api/auth/ok', { headers }))).status;
    },
    invariant: ({ results: { alice, bob } }) =>
      [alice, bob].filter((status) => status === 200).length === 1 ||
      `answered ${alice} and ${bob}, where one request is allowed`,
  });
}
