// An interface that speaks JSON-RPC as an OpenRPC document.

import { Components, type Json } from './components';
import type { Schema } from './schema';

export interface MethodParameter {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

export interface MethodDescription {
  readonly name: string;
  readonly summary: string;
  readonly description?: string | undefined;
  /** In their order. */
  readonly parameters: readonly MethodParameter[];
  readonly result: Schema;
  /** The parameters of notifications that the server sends under the method's name, in their order. */
  readonly notification?: readonly MethodParameter[] | undefined;
}

export interface RpcDescription {
  readonly title: string;
  readonly description: string;
  /** The version of this package. */
  readonly version: string;
  readonly methods: readonly MethodDescription[];
}

/** The method that answers with the document, as OpenRPC has it. */
export const DISCOVER = 'rpc.discover';

export const DISCOVER_SUMMARY = 'This document.';

/** What the method answers: an OpenRPC document. */
export const DOCUMENT: Schema = {
  type: 'object',
  description: 'An OpenRPC document, whose own schema is at https://meta.open-rpc.org/.'
};

/** The document, to be written as JSON. Schemas with a name stand in `components` once. */
export function openRpcDocument({ title, description, version, methods }: RpcDescription): { readonly [key: string]: Json } {
  const components = new Components();
  const parameterOf = ({ name, schema, isRequired }: MethodParameter): Json => ({
    name,
    required: isRequired,
    schema: components.schema(schema)
  });
  const described = methods.map((method): Json => ({
    name: method.name,
    summary: method.summary,
    ...(method.description !== undefined && { description: method.description }),
    paramStructure: 'either',
    params: method.parameters.map(parameterOf),
    result: { name: 'result', schema: components.schema(method.result) },
    ...(method.notification && { 'x-notification': { params: method.notification.map(parameterOf) } })
  }));
  return {
    openrpc: '1.3.2',
    info: { title, description, version },
    methods: described,
    components: { schemas: components.schemas }
  };
}
