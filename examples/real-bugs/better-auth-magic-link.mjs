/** Better Auth: the same sign-in link is opened twice at the same time. */
import { atOnce } from './better-auth.mjs';

/** @param library the library and its plugin, of one version */
export function magicLink({ betterAuth, magicLink }) {
  return atOnce({
    betterAuth,
    options: { plugins: [magicLink({ sendMagicLink: async () => {} })] },
    rows: `INSERT INTO verification VALUES ('00000000-0000-4000-8000-000000000002', 'link', '{"email":"ada@example.org","attempt":0}');`,
    request: async (auth) => {
      await auth.api.magicLinkVerify({ query: { token: 'link' }, headers: new Headers(), asResponse: true });
    },
    invariant: async ({ query }) => {
      const { length } = await query('SELECT 1 FROM session');
      return length === 1 || `one link made ${length} sessions`;
    },
  });
}
