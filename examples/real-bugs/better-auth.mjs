/** Better Auth: what two requests at the same time do. Identifiers are the database's; passwords are not hashed, which takes long. */
import pg from 'pg';
import { sqlProgram } from 'moirai';

const tables = `
  CREATE TABLE "user" (id uuid PRIMARY KEY, name text NOT NULL, email text NOT NULL UNIQUE, "emailVerified" boolean NOT NULL, image text,
    "createdAt" timestamptz NOT NULL DEFAULT now(), "updatedAt" timestamptz NOT NULL DEFAULT now());
  CREATE TABLE session (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), "expiresAt" timestamptz NOT NULL, token text NOT NULL UNIQUE,
    "createdAt" timestamptz NOT NULL, "updatedAt" timestamptz NOT NULL, "ipAddress" text, "userAgent" text, "userId" uuid NOT NULL REFERENCES "user" (id));
  CREATE TABLE account (id uuid PRIMARY KEY, "accountId" text NOT NULL, "providerId" text NOT NULL, "userId" uuid NOT NULL REFERENCES "user" (id),
    "accessToken" text, "refreshToken" text, "idToken" text, "accessTokenExpiresAt" timestamptz, "refreshTokenExpiresAt" timestamptz, scope text,
    password text, "createdAt" timestamptz NOT NULL DEFAULT now(), "updatedAt" timestamptz NOT NULL DEFAULT now());
  CREATE TABLE verification (id uuid PRIMARY KEY, identifier text NOT NULL, value text NOT NULL, "expiresAt" timestamptz NOT NULL DEFAULT '2100-01-01',
    "createdAt" timestamptz NOT NULL DEFAULT now(), "updatedAt" timestamptz NOT NULL DEFAULT now());
  CREATE TABLE "rateLimit" (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), key text NOT NULL UNIQUE, count int NOT NULL, "lastRequest" bigint NOT NULL);`;

export const ada = '00000000-0000-4000-8000-000000000001';
const adaRow = `INSERT INTO "user" VALUES ('${ada}', 'Ada', 'ada@example.org', true);`;

/**
 * @param betterAuth the library, of one version
 * @param options what is configured beside the database
 * @param rows what is in the database at the beginning
 * @param request what each session does; what it returns is the invariant's
 */
export function atOnce({ betterAuth, options, rows = '', request, invariant }) {
  const session = async ({ name, connect }) => {
    const pool = new pg.Pool({ user: 'app', stream: connect, max: 1 });
    const auth = betterAuth({
      database: pool,
      baseURL: 'http://localhost',
      secret: 'a secret of more than 32 characters, for tests',
      advanced: { database: { generateId: 'uuid' } },
      logger: { disabled: true },
      telemetry: { enabled: false },
      ...options,
    });
    try {
      return await request(auth, name);
    } finally {
      await pool.end();
    }
  };
  return sqlProgram({
    dialect: 'postgres',
    schema: tables + adaRow + rows,
    sessions: { alice: session, bob: session },
    invariant: async ({ connect, results }) => {
      const client = new pg.Client({ user: 'app', stream: connect });
      await client.connect();
      const query = async (text) => (await client.query(text)).rows;
      try {
        return await invariant({ query, results });
      } finally {
        await client.end();
      }
    },
  });
}
