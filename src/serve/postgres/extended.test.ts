import { describe, expect, test } from 'vitest';
import {
  bind,
  brief,
  close,
  describeOf,
  execute,
  frontendBytes,
  parse,
  quiet,
  type RawClient,
  started,
  sync,
} from './client.test-support.ts';

describe('the extended protocol', () => {
  test('a batch in one piece, with text parameters', async () => {
    const client = await started();
    const batch = [
      parse('echo int4 text'),
      describeOf('statement'),
      bind(['42', null]),
      describeOf('portal'),
      execute(),
      sync,
    ];
    expect(brief(await client.say(...batch))).toEqual([
      'parse-complete',
      'parameters 23 25',
      'columns p1 p2',
      'bind-complete',
      'columns p1 p2',
      '42|null',
      'SELECT 1',
      'ready idle',
    ]);
  });

  test('a statement described again, in text and in binary', async () => {
    const client = await started();
    const described = async (format: number): Promise<unknown> => {
      const heard = await client.say(
        bind(['1'], { statement: 'kept', resultFormats: [format] }),
        describeOf('portal'),
        sync,
      );
      return heard[1];
    };
    await client.say(parse('echo int4', 'kept'), sync);
    const [text, binary, again] = [await described(0), await described(1), await described(0)];
    expect(text).toMatchObject({ kind: 'row-description', fields: [{ name: 'p1', typeOid: 23, format: 0 }] });
    expect(binary).toMatchObject({ kind: 'row-description', fields: [{ name: 'p1', typeOid: 23, format: 1 }] });
    expect(again).toEqual(text);
  });

  test('binary both ways, by one format for all and one for each', async () => {
    const client = await started();
    const seven = Buffer.from([0, 0, 0, 7]);
    const values = [seven, Buffer.from('x')];
    for (const formats of [[1], [1, 1]]) {
      const heard = await client.say(
        parse('echo int4 text'),
        bind(values, { parameterFormats: formats, resultFormats: formats }),
        describeOf('portal'),
        execute(),
        sync,
      );
      expect(heard).toContainEqual({ kind: 'data-row', values });
      expect(heard[2]).toMatchObject({ fields: [{ format: 1 }, { format: 1 }] });
    }
    const mixed = await client.say(
      parse('echo int4 int4'),
      bind([seven, '8'], { parameterFormats: [1, 0], resultFormats: [0, 1] }),
      execute(),
      sync,
    );
    expect(mixed).toContainEqual({ kind: 'data-row', values: [Buffer.from('7'), Buffer.from([0, 0, 0, 8])] });
  });

  test('the types that a client names win; 0 leaves them open', async () => {
    const client = await started();
    const heard = await client.say(parse('echo int4 int4', '', [20, 0]), describeOf('statement'), sync);
    expect(brief(heard)[1]).toBe('parameters 20 23');
  });

  test('statements with a name stay, portals go with the transaction', async () => {
    const client = await started();
    await client.say(parse('echo int4', 's'), sync);
    const again = [bind(['1'], { statement: 's', portal: 'p' }), execute(0, 'p'), sync];
    const expected = ['bind-complete', '1', 'SELECT 1', 'ready idle'];
    expect(brief(await client.say(...again))).toEqual(expected);
    expect(brief(await client.say(...again))).toEqual(expected);
    expect(brief(await client.say(execute(0, 'p'), sync))).toEqual(['ERROR 34000', 'ready idle']);
    expect(brief(await client.say(close('statement', 's'), sync))).toEqual(['close-complete', 'ready idle']);
    expect(brief(await client.say(...again))).toEqual(['ERROR 26000', 'ready idle']);
  });

  test.each(['s', 'all', '"s"', 'prepare S;'])('DEALLOCATE %s ends a statement', async (name) => {
    const client = await started();
    await client.say(parse('rows 0', 's'), sync);
    expect(brief(await client.query(`deallocate ${name}`)).at(-1)).toBe('ready idle');
    expect(brief(await client.say(describeOf('statement', 's'), sync))).toEqual(['ERROR 26000', 'ready idle']);
  });

  test('a portal gives its rows in parts, in an open transaction also after Sync', async () => {
    const client = await started();
    await client.query('begin');
    const first = await client.say(parse('rows 5'), bind([], { portal: 'p' }), execute(2, 'p'), sync);
    expect(brief(first)).toEqual([
      'parse-complete',
      'bind-complete',
      '0|row 0',
      '1|row 1',
      'portal-suspended',
      'ready open',
    ]);
    const rest = await client.say(execute(2, 'p'), execute(2, 'p'), execute(2, 'p'), sync);
    expect(brief(rest)).toEqual([
      '2|row 2',
      '3|row 3',
      'portal-suspended',
      '4|row 4',
      'SELECT 1',
      'SELECT 0',
      'ready open',
    ]);
    await client.query('commit');
    expect(brief(await client.say(execute(2, 'p'), sync))).toEqual(['ERROR 34000', 'ready idle']);
    expect(client.server.sessions.get(1)?.ran.filter((text) => text === 'rows 5')).toHaveLength(1);
  });

  test('as many rows as asked for: suspended, as PostgreSQL does', async () => {
    const heard = await (await started()).say(parse('rows 2'), bind(), execute(2), execute(2), sync);
    expect(brief(heard).slice(4)).toEqual(['portal-suspended', 'SELECT 0', 'ready idle']);
  });

  test('a portal without rows runs once', async () => {
    const heard = await (await started()).say(parse('insert 1'), bind(), execute(), execute(), sync);
    expect(brief(heard).slice(2)).toEqual(['INSERT 0 1', 'ERROR 55000', 'ready idle']);
  });

  test('the empty statement', async () => {
    const heard = await (await started()).say(parse(''), bind(), describeOf('portal'), execute(), sync);
    expect(brief(heard)).toEqual(['parse-complete', 'bind-complete', 'no-data', 'empty-query-response', 'ready idle']);
  });

  test('an error passes over everything up to Sync, also a simple query', async () => {
    const client = await started();
    const heard = await client.say(
      parse('insert 1'),
      bind(),
      execute(),
      parse('nonsense', 'n'),
      bind(),
      execute(),
      { kind: 'query', sql: 'insert 9' },
      { kind: 'flush' },
      sync,
      { kind: 'query', sql: 'insert 2' },
    );
    expect(brief(heard).slice(2)).toEqual(['INSERT 0 1', 'ERROR 42601', 'ready idle', 'INSERT 0 2', 'ready idle']);
    expect(client.server.sessions.get(1)?.ran).toEqual(['insert 1', 'insert 2']);
  });

  test('an error in Bind fails the open transaction', async () => {
    const client = await started();
    await client.query('begin');
    expect(brief(await client.say(parse('echo int4'), bind(['x']), sync))).toEqual([
      'parse-complete',
      'ERROR 22P02',
      'ready failed',
    ]);
  });

  test('answers come at Sync or Flush, not before', async () => {
    const client = await started();
    expect(await client.say(parse('insert 1'))).toEqual([]);
    expect(brief(await client.say({ kind: 'flush' }))).toEqual(['parse-complete']);
    expect(await client.say(bind(), execute())).toEqual([]);
    expect(brief(await client.say(sync))).toEqual(['bind-complete', 'INSERT 0 1', 'ready idle']);
  });

  test('an error comes at once; what follows up to Sync is passed over', async () => {
    const client = await started();
    expect(brief(await client.say(parse('nonsense')))).toEqual(['ERROR 42601']);
    expect(await client.say(bind(), execute(), { kind: 'flush' })).toEqual([]);
    expect(brief(await client.say(sync))).toEqual(['ready idle']);
  });

  test.each([
    ['a statement twice', [parse('rows 1', 's'), parse('rows 1', 's')], '42P05'],
    ['a portal twice', [parse('rows 1'), bind([], { portal: 'p' }), bind([], { portal: 'p' })], '42P03'],
    ['an unknown statement', [bind([], { statement: 'none' })], '26000'],
    ['no unnamed statement', [describeOf('statement')], '26000'],
    ['an unknown portal', [describeOf('portal', 'none')], '34000'],
    ['too few parameters', [parse('echo int4'), bind()], '08P01'],
    ['too many parameters', [parse('echo'), bind(['1'])], '08P01'],
    ['parameter formats', [parse('echo int4 int4 int4'), bind(['1', '2', '3'], { parameterFormats: [0, 0] })], '08P01'],
    ['result formats', [parse('rows 1'), bind([], { resultFormats: [0, 0, 0] })], '08P01'],
    ['an unknown format', [parse('rows 1'), bind([], { resultFormats: [2] })], '22023'],
    ['text that is not UTF-8', [parse('echo text'), bind([Buffer.from([0xff])])], '22021'],
    ['a zero byte', [parse('echo text'), bind([Buffer.from([0x61, 0])])], '22021'],
    ['a number that is none', [parse('echo int4'), bind(['one'])], '22P02'],
    ['a parameter of a type that we do not have', [parse('echo int4', '', [600])], '0A000'],
  ] as const)('%s', async (_name, messages, code) => {
    const client = await started();
    const heard = brief(await client.say(...messages, sync));
    expect(heard.slice(-2)).toEqual([`ERROR ${code}`, 'ready idle']);
    expect(brief(await client.query('insert 1'))).toEqual(['INSERT 0 1', 'ready idle']);
    expect(client.bugs).toEqual([]);
  });

  test('so many statements and no more', async () => {
    const client = await started({ preparedMax: 2 });
    const heard = await client.say(parse('rows 1', 'a'), parse('rows 1', 'b'), parse('rows 1', 'c'), sync);
    expect(brief(heard)).toEqual(['parse-complete', 'parse-complete', 'ERROR 54000', 'ready idle']);
  });
});

describe('statements that are one transaction', () => {
  const blocksOf = (client: RawClient) => client.server.sessions.get(1)?.blocks;

  test('those of a simple query; one alone commits by itself', async () => {
    const client = await started();
    await client.query('insert 1');
    expect(blocksOf(client)).toEqual([]);
    expect(brief(await client.query('insert 1; insert 2'))).toEqual(['INSERT 0 1', 'INSERT 0 2', 'ready idle']);
    expect(blocksOf(client)).toEqual(['begin', 'commit']);
  });

  test('an error in any of them, also one of syntax, rolls all back', async () => {
    for (const bad of ['fail 23505', 'nonsense', 'bug']) {
      const client = await started();
      expect(brief(await client.query(`insert 1; ${bad}; insert 2`)).at(-1)).toBe('ready idle');
      expect(blocksOf(client)).toEqual(['begin', 'end']);
    }
  });

  test('the last command is complete when the commit is', async () => {
    const client = await started();
    Object.assign(client.server.sessions.get(1) ?? {}, { failsCommit: true });
    expect(brief(await client.query('insert 1; insert 2'))).toEqual(['INSERT 0 1', 'ERROR 40001', 'ready idle']);
  });

  test('those up to Sync; one alone before it commits by itself', async () => {
    const client = await started();
    await client.say(parse('insert 1'), bind(), execute(), sync);
    expect(blocksOf(client)).toEqual([]);
    const both = [parse('insert 1'), bind(), execute(), bind(), execute()];
    const heard = ['INSERT 0 1', 'bind-complete', 'INSERT 0 1', 'ready idle'];
    expect(brief(await client.say(...both, sync)).slice(2)).toEqual(heard);
    expect(blocksOf(client)).toEqual(['begin', 'commit']);
    await client.say(...both, bind([], { statement: 'none' }), sync);
    expect(blocksOf(client)).toEqual(['begin', 'commit', 'begin', 'end']);
  });

  test('it does not matter how the stream is cut', async () => {
    const bytes = frontendBytes(
      parse('insert 1'),
      bind(),
      execute(),
      sync,
      parse('insert 1'),
      bind(),
      execute(),
      execute(),
      sync,
    );
    for (let cut = 1; cut < bytes.length; cut++) {
      const client = await started();
      client.conversation.receive(bytes.subarray(0, cut));
      await quiet();
      client.conversation.receive(bytes.subarray(cut));
      await quiet();
      expect(blocksOf(client)).toEqual(['begin', 'end']);
      expect(brief(client.heard).filter((text) => text.includes('INSERT'))).toHaveLength(2);
    }
  });

  test('an Execute without a Sync is run when the client has said all', async () => {
    const client = await started();
    expect(await client.say(parse('insert 1'), bind(), execute())).toEqual([]);
    const session = client.server.sessions.get(1);
    expect(session?.ran).toEqual([]);
    client.conversation.ended();
    await quiet();
    expect(session?.ran).toEqual(['insert 1']);
    expect(client.isClosed).toBe(true);
  });

  test('a commit that fails at Sync answers after the commands', async () => {
    const client = await started();
    Object.assign(client.server.sessions.get(1) ?? {}, { failsCommit: true });
    const heard = await client.say(parse('insert 1'), bind(), execute(), { kind: 'flush' }, sync);
    expect(brief(heard).slice(2)).toEqual(['INSERT 0 1', 'ERROR 40001', 'ready idle']);
  });
});
