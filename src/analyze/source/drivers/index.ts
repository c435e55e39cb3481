/** The drivers that the source reader knows, by the modules that programs import. */
import type ts from 'typescript';
import type { Abstract, ClassValue, External } from '../abstract-value.ts';
import { drizzle } from '../builders/drizzle.ts';
import { knex } from '../builders/knex.ts';
import { kysely } from '../builders/kysely.ts';
import { prisma } from '../builders/prisma.ts';
import { sequelize } from '../builders/sequelize.ts';
import { typeorm } from '../builders/typeorm.ts';
import type { Driver, Machine, TypeArgument } from '../machine.ts';
import { mysql2 } from './mysql2.ts';
import { pg } from './pg.ts';
import { postgres } from './postgres.ts';

const known: readonly Driver[] = [pg, postgres, mysql2, kysely, knex, drizzle, prisma, sequelize, typeorm];

function driverOf({ module }: External): Driver | undefined {
  return known.find(({ modules }) => modules.test(module));
}

export const drivers = {
  isDriver: (module: string): boolean => known.some(({ modules }) => modules.test(module)),
  construct: (machine: Machine, external: External, args: readonly Abstract[], at: ts.Node) =>
    driverOf(external)?.construct?.(machine, external, args, at),
  call: (machine: Machine, external: External, args: readonly Abstract[], at: ts.Node) =>
    driverOf(external)?.call?.(machine, external, args, at),
  ofType: (machine: Machine, external: External, types: readonly TypeArgument[]) =>
    driverOf(external)?.ofType?.(machine, external, types),
  modelOf: (machine: Machine, external: External, type: ClassValue) =>
    driverOf(external)?.modelOf?.(machine, external, type),
  value: (machine: Machine, external: External) => driverOf(external)?.value?.(machine, external),
  /** What a library makes of a handle that is known by this call of it. @param first The first argument, where it is constant */
  byUse: (api: typeof ts, call: ts.CallExpression, first: unknown, modules: ReadonlySet<string>) =>
    known.find(
      (driver) =>
        driver.byUse?.isUse(api, call, first) === true && [...modules].some((module) => driver.modules.test(module)),
    )?.byUse?.handleOf,
  isModelCall: (machine: Machine, method: string, receiver: Abstract): boolean =>
    known.some((driver) => driver.isModelCall?.(machine, method, receiver) === true),
  outsideMember: (machine: Machine, name: string): Abstract | undefined => {
    for (const driver of known) {
      const found = driver.outsideMember?.(machine, name);
      if (found !== undefined) return found;
    }
    return undefined;
  },
  /** What the function of `x.transaction(fn)` gets, by the library that the sources import. */
  inTransaction: (modules: ReadonlySet<string>) =>
    known.find(
      (driver) =>
        driver.byUse?.inTransaction !== undefined && [...modules].some((module) => driver.modules.test(module)),
    )?.byUse?.inTransaction,
  /** Does the call begin a statement, whatever it is called on? @param modules those that the sources import */
  startsStatement: (api: typeof ts, call: ts.CallExpression, modules: ReadonlySet<string>): boolean => {
    const { expression: callee } = call;
    const method = api.isPropertyAccessExpression(callee) ? callee.name.text : '';
    return known.some(
      (driver) =>
        (driver.startsStatement?.test(method) === true || driver.isLostStatement?.(api, call) === true) &&
        [...modules].some((module) => driver.modules.test(module)),
    );
  },
};
