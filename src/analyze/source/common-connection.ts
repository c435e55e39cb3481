/** The connection of handles whose origin is not in the sources: all of a unit are one. */
import type { Connection } from './emitter.ts';
import type { Machine, Owner } from './machine.ts';

const connections = new WeakMap<Machine['emitter'], Connection>();

export function commonConnection(machine: Machine): Connection {
  const connection = connections.get(machine.emitter) ?? {};
  connections.set(machine.emitter, connection);
  return connection;
}

/** That connection while it has a transaction open, else a pool. */
export function openConnection(machine: Machine): Owner {
  const connection = commonConnection(machine);
  return machine.emitter.open?.connection === connection ? connection : null;
}
