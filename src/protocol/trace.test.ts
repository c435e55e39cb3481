import { beforeAll, describe, expect, test } from 'vitest';
import snapshotStore from '../../examples/protocols/snapshot-store.ts';
import twoPhaseLocking from '../../examples/protocols/two-phase-locking.ts';
import { check } from '../isolation/index.ts';
import {
  checkProtocol,
  formatLanes,
  formatMermaid,
  formatSteps,
  formatSvg,
  itfOf,
  simulateProtocol,
  type Trace,
} from './index.ts';

const parameters = { transactions: 3, resources: 2, bug: 1 };
let trace: Trace;

beforeAll(() => {
  const found = checkProtocol(twoPhaseLocking, { parameters, levels: ['serializable'] }).trace;
  if (found === null) throw new Error('the bug should be found');
  trace = found;
});

test('every step of a trace is one of its process, and every message was sent before it is received', () => {
  const sent = new Set<string>();
  const at = new Map(trace.processes.map((name) => [name, name.startsWith('t') ? 'INIT' : 'TR_INIT']));
  for (const step of trace.steps) {
    expect(step.from).toBe(at.get(step.process));
    for (const { text } of step.received) expect(sent).toContain(text);
    for (const { text } of step.sent) sent.add(text);
    at.set(step.process, step.to);
  }
});

test('what clients observed is a history that check refutes as well', () => {
  const { observed } = trace;
  if (observed === null) throw new Error('the protocol is observed');
  expect(check(observed, 'serializable').kind).toBe('violated');
  expect(check(observed, 'read-uncommitted').kind).toBe('satisfied');
});

describe('a trace', () => {
  test('as text has a line for each step', () => {
    const lines = formatSteps(trace);
    expect(lines).toHaveLength(19);
    expect(lines[0]).toMatch(/^ 1 {2}t\d {2}INIT -> WAIT {2,}sends VoteRequest\(t\d\)$/);
  });

  test('drawn between processes has an arrow for each message from another', () => {
    const lines = formatLanes(trace);
    const received = trace.steps.flatMap(({ process, received: all }) => all.filter(({ from }) => from !== process));
    expect(lines.filter((line) => /->|<-/.test(line))).toHaveLength(received.length);
    expect(lines[0]?.split(/ +/)).toEqual(['t1', 't2', 't3', 'r1', 'r2']);
  });

  test('as Mermaid names every process once', () => {
    const text = formatMermaid(trace);
    expect(text.match(/^ {2}participant /gm)).toHaveLength(5);
    expect(text.match(/^ {2}Note over /gm)).toHaveLength(19);
  });

  test('as SVG is well-formed and escapes what it shows', () => {
    const text = formatSvg({ ...trace, protocol: 'a < b & "c"' });
    expect(text).toContain('<title>a &lt; b &amp; &quot;c&quot;</title>');
    const tags = [...text.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)];
    const open: string[] = [];
    for (const [, closes, name, isEmpty] of tags) {
      if (closes === '/') expect(open.pop()).toBe(name);
      else if (isEmpty !== '/') open.push(name as string);
    }
    expect(open).toEqual([]);
  });

  test('as SVG is wide enough for the words beside the last process', () => {
    const text = formatSvg(trace);
    const width = Number(/width="(?<width>\d+)"/.exec(text)?.groups?.['width']);
    const labels = [...text.matchAll(/class="step" x="(?<x>\d+)"[^>]*>(?<label>[^<]*)</g)];
    expect(labels).toHaveLength(19);
    for (const { groups } of labels)
      expect(Number(groups?.['x']) + (groups?.['label'] ?? '').length * 6).toBeLessThan(width);
  });

  test('in ITF has all variables in every state', () => {
    const { vars, states } = itfOf(trace) as { vars: string[]; states: Record<string, unknown>[] };
    expect(vars).toEqual(['t1', 't2', 't3', 'r1', 'r2', 'messages', 'step']);
    expect(states).toHaveLength(20);
    for (const [index, state] of states.entries()) {
      expect(Object.keys(state)).toEqual(['#meta', ...vars]);
      expect(state['#meta']).toEqual({ index });
    }
    expect(states[0]).toMatchObject({ r1: { at: 'TR_INIT', voted: { '#set': [] } }, messages: { '#set': [] } });
  });
});

describe('simulation', () => {
  const options = { levels: ['serializable'] as const, runs: 500, seed: 3 };

  test('finds write skew, and the same way for the same seed', async () => {
    const found = await simulateProtocol(snapshotStore, options);
    expect(found).toMatchObject({ verdict: 'violated', complete: false, violation: { name: 'serializable' } });
    expect((await simulateProtocol(snapshotStore, options)).trace).toEqual(found.trace);
  });

  test('proves nothing', async () => {
    const found = await simulateProtocol(snapshotStore, { ...options, levels: ['snapshot-isolation'] });
    expect(found).toMatchObject({ verdict: 'unknown', reason: 'runs-limit', complete: false });
  });
});

test('depth-first finds the bug too, on a longer way', () => {
  const found = checkProtocol(twoPhaseLocking, { parameters, levels: ['serializable'], order: 'depth-first' });
  expect(found.violation).toMatchObject({ kind: 'isolation', name: 'serializable' });
  expect(found.trace?.steps.length).toBeGreaterThanOrEqual(19);
});

test('depth-first sees the same states', () => {
  const options = { parameters: { transactions: 2, resources: 1 }, eventually: false };
  const found = checkProtocol(twoPhaseLocking, { ...options, order: 'depth-first' });
  expect(found).toMatchObject({ states: 1_118, generated: 3_028, verdict: 'satisfied' });
});
