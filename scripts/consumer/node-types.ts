// Entry points that drivers connect to, or that read sources: their users have the types of Node, and a TypeScript.
import * as analyze from 'moirai/analyze';
import * as serve from 'moirai/serve';
import * as sql from 'moirai/sql';

export const entryPoints: readonly object[] = [analyze, serve, sql];

export const options: serve.ServeOptions = { profile: sql.parseProfile({ engine: 'postgres' }), port: 0 };
// @ts-expect-error: a port that is no number; if this compiles, the types have collapsed into `any`.
export const wrong: serve.ServeOptions = { profile: options.profile, port: '5432' };
