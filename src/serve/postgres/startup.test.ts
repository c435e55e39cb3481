import { describe, expect, test } from 'vitest';
import {
  type BackendMessage,
  type FrontendMessage,
  encodePassword,
  encodeSaslInitialResponse,
  md5Password,
  scramClientFinal,
  scramClientFirst,
} from '../../wire/postgres/index.ts';
import { brief, countingBytes, RawClient } from './client.test-support.ts';

describe('start-up', () => {
  test('without a password: settings, a key, ready', async () => {
    const client = new RawClient();
    const heard = await client.startUp({ user: 'ann', database: 'shop', application_name: 'till' });
    expect(brief(heard)).toEqual([
      'authentication ok',
      'application_name=till',
      'client_encoding=UTF8',
      'DateStyle=ISO, MDY',
      'default_transaction_read_only=off',
      'in_hot_standby=off',
      'integer_datetimes=on',
      'IntervalStyle=postgres',
      'is_superuser=on',
      'server_encoding=UTF8',
      'server_version=15.18',
      'session_authorization=ann',
      'standard_conforming_strings=on',
      'TimeZone=UTC',
      'backend-key-data',
      'ready idle',
    ]);
    expect(client.server.connects).toMatchObject([{ user: 'ann', database: 'shop' }]);
  });

  test('the database is named like the user, options become settings', async () => {
    const client = new RawClient();
    await client.startUp({ user: 'ann', options: '-c lock_timeout=5s --search-path=a\\ b -cx.y=1', DateStyle: 'ISO' });
    const [connect] = client.server.connects;
    expect(connect?.database).toBe('ann');
    expect([...(connect?.parameters ?? [])]).toEqual([
      ['lock_timeout', '5s'],
      ['search_path', 'a b'],
      ['x.y', '1'],
      ['DateStyle', 'ISO, MDY'],
    ]);
  });

  test('settings that the client brings are reported', async () => {
    const heard = await new RawClient().startUp({ user: 'ann', timezone: 'Asia/Tokyo', DateStyle: 'ISO' });
    expect(brief(heard)).toEqual(expect.arrayContaining(['TimeZone=Asia/Tokyo', 'DateStyle=ISO, MDY']));
  });

  test('SSLRequest and GSSENCRequest are declined, the start-up continues', async () => {
    const client = new RawClient();
    for (const kind of ['ssl-request', 'gssenc-request'] as const) {
      client.awaitsByte = true;
      await client.packet({ kind });
    }
    expect(client.bytes).toBe('NN');
    expect(brief(await client.startUp()).at(-1)).toBe('ready idle');
  });

  test('protocol 3.2: a longer key', async () => {
    const key = (heard: BackendMessage[]) =>
      heard.find((message) => message.kind === 'backend-key-data')?.secret.length;
    expect(key(await new RawClient().startUp({ user: 'ann' }, 0))).toBe(4);
    expect(key(await new RawClient().startUp({ user: 'ann' }, 2))).toBe(32);
  });

  test('a newer minor version and unknown options are negotiated', async () => {
    const heard = await new RawClient().startUp({ user: 'ann', '_pq_.compression': 'zstd' }, 9999);
    expect(heard[0]).toEqual({ kind: 'negotiate-protocol-version', version: 0x30002, options: ['_pq_.compression'] });
    expect(brief(heard).at(-1)).toBe('ready idle');
  });

  test.each([
    ['no user', {}, '28000'],
    ['replication', { user: 'ann', replication: 'database' }, '0A000'],
    ['another encoding', { user: 'ann', client_encoding: 'LATIN1' }, '0A000'],
    ['options that are none', { user: 'ann', options: '-x' }, '42601'],
    ['a database that does not exist', { user: 'ann', database: 'missing' }, '3D000'],
  ])('refused: %s', async (_name, parameters, code) => {
    const client = new RawClient();
    expect(brief(await client.startUp(parameters as Record<string, string>)).at(-1)).toBe(`FATAL ${code}`);
    expect(client.isClosed).toBe(true);
    expect(client.server.sessions.size).toBe(0);
  });

  test('refused: protocol 2', async () => {
    const client = new RawClient();
    const heard = await client.packet({ kind: 'startup', major: 2, minor: 0, parameters: new Map() });
    expect(heard[0]).toMatchObject({
      fields: { code: '0A000', message: 'unsupported frontend protocol 2.0: server supports 3.0 to 3.2' },
    });
    expect(client.isClosed).toBe(true);
  });

  test('Terminate as the first packet: closed without a word', async () => {
    const client = new RawClient();
    expect(await client.say({ kind: 'terminate' })).toEqual([]);
    expect({ closed: client.isClosed, pieces: client.pieces, bytes: client.bytes }).toEqual({
      closed: true,
      pieces: [],
      bytes: '',
    });
  });

  test('refused: too many connections', async () => {
    const client = new RawClient({ admission: 'full' });
    expect(brief(await client.startUp())).toEqual(['FATAL 53300']);
    expect(client.isClosed).toBe(true);
  });

  test.each(["'utf-8'", 'UTF8', 'unicode', 'SQL_ASCII'])('the encoding %s is welcome', async (name) => {
    expect(brief(await new RawClient().startUp({ user: 'ann', client_encoding: name })).at(-1)).toBe('ready idle');
  });
});

describe('passwords', () => {
  const answer = (data: Uint8Array): FrontendMessage => ({ kind: 'authentication-response', data });

  async function scram(password: string): Promise<RawClient & { last: string[] }> {
    const client = new RawClient({ password: 'secret' });
    expect(await client.startUp()).toMatchObject([{ request: { method: 'sasl', mechanisms: ['SCRAM-SHA-256'] } }]);
    const first = encodeSaslInitialResponse({ mechanism: 'SCRAM-SHA-256', data: scramClientFirst('nonce') });
    const [challenge] = await client.say(answer(first));
    const { request } = challenge as Extract<BackendMessage, { kind: 'authentication' }>;
    const final = scramClientFinal('nonce', password, (request as { data: Uint8Array }).data);
    return Object.assign(client, { last: brief(await client.say(answer(final.data))) });
  }

  test('SCRAM lets the right one in', async () => {
    const { last } = await scram('secret');
    expect(last.slice(0, 2)).toEqual(['authentication sasl-final', 'authentication ok']);
    expect(last.at(-1)).toBe('ready idle');
  });

  test('SCRAM keeps the wrong one out', async () => {
    const client = await scram('guess');
    expect(client.last).toEqual(['FATAL 28P01']);
    expect(client.isClosed).toBe(true);
    expect(client.server.connects).toEqual([]);
  });

  test('another mechanism, a message that is not SCRAM, a query instead', async () => {
    for (const [message, code] of [
      [answer(encodeSaslInitialResponse({ mechanism: 'PLAIN', data: null })), '08P01'],
      [answer(encodeSaslInitialResponse({ mechanism: 'SCRAM-SHA-256', data: Buffer.from('hello') })), '08P01'],
      [answer(new Uint8Array(0)), '08P01'],
      [{ kind: 'query', sql: 'rows 1' }, '08P01'],
    ] as const) {
      const client = new RawClient({ password: 'secret' });
      await client.startUp();
      expect(brief(await client.say(message))).toEqual([`FATAL ${code}`]);
      expect(client.server.connects).toEqual([]);
    }
  });

  test.each(['cleartext', 'md5'] as const)('%s', async (passwordMethod) => {
    for (const [given, isRight] of [
      ['secret', true],
      ['guess', false],
    ] as const) {
      const client = new RawClient({ password: 'secret', passwordMethod });
      expect(brief(await client.startUp())).toEqual([`authentication ${passwordMethod}`]);
      const password = passwordMethod === 'md5' ? md5Password(given, 'ann', countingBytes(4)) : given;
      const heard = brief(await client.say(answer(encodePassword(password))));
      expect(heard.at(-1)).toBe(isRight ? 'ready idle' : 'FATAL 28P01');
    }
  });
});
