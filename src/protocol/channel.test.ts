import { describe, expect, test } from 'vitest';
import {
  channel,
  type ChannelOptions,
  checkProtocol,
  namedSet,
  processes,
  protocol,
  type Protocol,
  range,
  record,
} from './index.ts';

/**
 * The alternating-bit protocol: a sender repeats a message with its bit until the bit is acknowledged. Bartlett, Scantlebury and
 * Wilkinson, CACM 1969. It masters loss and duplication, but not reordering.
 */
function alternatingBit(options: Omit<ChannelOptions, 'lengthMax'>, messages = 3): Protocol {
  return protocol({
    name: 'alternating bit',
    parameters: {},
    define: () => {
      const S = namedSet('sender', ['sender']);
      const R = namedSet('receiver', ['receiver']);
      const bit = range(0, 1);
      const data = channel('data', R, record({ bit, value: range(0, messages) }), { lengthMax: 2, ...options });
      const acks = channel('acks', S, bit, { lengthMax: 2, ...options });
      const every = Array.from({ length: messages * 2 }, (_, i) => ({ bit: i % 2, value: Math.floor(i / 2) }));
      const sender = processes(S, {
        start: 'send',
        mayRestAt: ['send'],
        variables: { next: range(0, messages) },
        steps: {
          send: [
            {
              name: 'send',
              await: (self) => self.next < messages && data.canSend(0),
              do: (self) => data.send(0, { bit: self.next % 2, value: self.next }),
            },
            ...[0, 1].map((acked) => ({
              name: `receive ack ${acked}`,
              await: () => acks.isNext(0, acked),
              do: (self: { next: number }) => {
                acks.receive(0, acked);
                if (self.next < messages && self.next % 2 === acked) self.next += 1;
              },
            })),
          ],
        },
      });
      const receiver = processes(R, {
        start: 'receive',
        mayRestAt: ['receive'],
        variables: { delivered: range(0, messages), wrong: range(0, 1) },
        steps: {
          receive: every.map((message) => ({
            name: `receive ${message.value}`,
            await: () => data.isNext(0, message) && acks.canSend(0),
            do: (self: { delivered: number; wrong: number }) => {
              data.receive(0, message);
              acks.send(0, message.bit);
              if (message.bit !== self.delivered % 2 || self.delivered === messages) return;
              if (message.value !== self.delivered) self.wrong = 1;
              self.delivered += 1;
            },
          })),
        },
      });
      return {
        processes: [sender, receiver, ...data.faults, ...acks.faults],
        shared: [data.state, acks.state],
        invariants: { 'in order, once': () => receiver.all.every(({ wrong }) => wrong === 0) },
        sometimes: { 'all arrive': () => receiver.all.every(({ delivered }) => delivered === messages) },
      };
    },
  });
}

describe('the alternating-bit protocol', () => {
  test.each([
    ['a good network', {}],
    ['loss', { lossy: true }],
    ['duplication', { duplicating: true }],
    ['loss and duplication', { lossy: true, duplicating: true }],
  ])('survives %s', (_name, options) => {
    expect(checkProtocol(alternatingBit(options)).verdict).toBe('satisfied');
  });

  test('does not survive reordering', () => {
    const { violation, trace } = checkProtocol(alternatingBit({ ordered: false, duplicating: true }, 4));
    expect(violation).toEqual({ kind: 'invariant', name: 'in order, once' });
    expect(trace?.steps.length).toBeGreaterThan(5);
  });
});

test('a queue that is full is told with the step', () => {
  const P = namedSet('p', 1);
  const flooding = protocol({
    name: 'flooding',
    parameters: {},
    define: () => {
      const inbox = channel('inbox', P, range(0, 1), { lengthMax: 1 });
      const p = processes(P, { start: 'flood', steps: { flood: { do: () => inbox.send(0, 1) } } });
      return { processes: [p], shared: [inbox.state] };
    },
  });
  expect(() => checkProtocol(flooding)).toThrow('p1 at flood, step flood: inbox to p1 holds 1 messages already');
});
