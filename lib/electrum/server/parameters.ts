// Puts the parameters of a request into the order of the method's names.

import { isPositional, type Params } from '../../server/json-rpc/values';
import { CODES, ElectrumError } from '../errors';
import type { Method } from '../method';

/** @throws ElectrumError when there are too few, too many, or unknown ones */
export function valuesOf(
  name: string,
  { parameters, required }: Pick<Method, 'parameters' | 'required'>,
  params: Params
): readonly unknown[] {
  return isPositional(params) ? positional(name, parameters.length, required, params) : named(name, parameters, required, params);
}

function positional(name: string, most: number, least: number, params: readonly unknown[]): readonly unknown[] {
  const { length } = params;
  const passed = `${length} argument${length === 1 ? '' : 's'} passed to method ${name}`;
  if (length > most) throw new ElectrumError(CODES.invalidParameters, `${passed} taking at most ${most}`);
  if (length < least) throw new ElectrumError(CODES.invalidParameters, `${passed} taking at least ${least}`);
  return params;
}

function named(
  name: string,
  parameters: readonly string[],
  required: number,
  params: Readonly<Record<string, unknown>>
): readonly unknown[] {
  const missing = parameters.slice(0, required).find((parameter) => !Object.hasOwn(params, parameter));
  if (missing !== undefined) throw new ElectrumError(CODES.invalidParameters, `method "${name}" requires parameter "${missing}"`);
  if (Object.keys(params).some((parameter) => !parameters.includes(parameter)))
    throw new ElectrumError(CODES.invalidParameters, `method "${name}" was given parameters that it does not have`);
  return parameters.map((parameter) => params[parameter]);
}
