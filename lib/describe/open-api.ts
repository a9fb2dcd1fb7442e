// An interface over HTTP as an OpenAPI 3.1 document.

import { Components, type Json } from './components';
import type { Schema } from './schema';

/** A body. Bytes have no schema. */
export interface Content {
  readonly type: string;
  readonly schema?: Schema;
  readonly description: string;
}

export interface OperationParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly schema: Schema;
  readonly description: string;
  /** Parameters of paths always are. */
  readonly isRequired?: true;
}

/** What one kind of request asks for, without where it is sent. */
export interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** Those in the path, in the order of the path, then those of the query. */
  readonly parameters?: readonly OperationParameter[];
  readonly body?: Content;
  /** The body of a success: several types for one that the request chooses from; undefined: there are no successes. */
  readonly answer: Content | readonly Content[] | undefined;
  /** The status of a success, if it is not 200. */
  readonly status?: number;
  /** Statuses and when they are given, beside those that every request of the interface may get. Their bodies are texts unless said. */
  readonly errors?: Readonly<Record<number, string | Content>>;
  /** Whether browsers get errors as pages. */
  readonly hasPages?: true;
}

/** An operation with the place where it is had. */
export interface PlacedOperation extends Operation {
  readonly method: 'GET' | 'POST';
  /** Below the interface's path, with parameters in braces. */
  readonly path: string;
}

export interface InterfaceDescription {
  readonly title: string;
  readonly description: string;
  /** The version of this package. */
  readonly version: string;
  /** The path under which the interface is served, without a slash at its end; empty: paths of operations are whole. */
  readonly path: string;
  /** What every request may get, by status. */
  readonly errors: Readonly<Record<number, string>>;
  /** Which operations ask for the node's API key. */
  readonly keyFor: (operation: PlacedOperation) => boolean;
}

/** In documents this is the name of the way in which the API key is given. */
const KEY = 'apiKey';

/** The document of the interface. @throws Error unless paths and their parameters agree, and each operation stands there once */
export function openApiDocument(of: InterfaceDescription, operations: readonly PlacedOperation[]): { readonly [key: string]: Json } {
  const components = new Components();
  const paths = new Map<string, Record<string, Json>>();
  const ids = new Set<string>();
  for (const operation of operations) {
    const { method, path, id } = operation;
    const item = paths.get(path) ?? {};
    const key = method.toLowerCase();
    if (key in item || ids.has(id)) throw new Error(`${method} ${path} (${id}) is described twice`);
    ids.add(id);
    paths.set(path, { ...item, [key]: operationOf(operation, of, components) });
  }
  const { title, description, version, path } = of;
  const hasKey = operations.some((operation) => of.keyFor(operation));
  return {
    openapi: '3.1.0',
    info: { title, description, version },
    servers: [{ url: path === '' ? '/' : path }],
    paths: Object.fromEntries(paths),
    components: {
      schemas: components.schemas,
      ...(hasKey && {
        securitySchemes: {
          [KEY]: { type: 'http', scheme: 'basic', description: "The node's API key as the password, with any user name." }
        }
      })
    }
  };
}

const STRING = { schema: { type: 'string' } };
const ERROR = { 'text/plain': STRING };
const ERROR_OR_PAGE = { ...ERROR, 'text/html': STRING };

function operationOf(operation: PlacedOperation, of: InterfaceDescription, components: Components): Json {
  const { id, summary, description, parameters = [], body, answer, status = 200, errors = {}, hasPages, path } = operation;
  const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
  const named = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
  if (JSON.stringify(inPath) !== JSON.stringify(named)) throw new Error(`${path}: described are the parameters ${inPath.join(', ')}`);
  const needsKey = of.keyFor(operation);
  const all = { ...errors, ...of.errors, ...(needsKey && { 401: 'The API key of the node is needed as password.' }) };
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    ...(needsKey && { security: [{ [KEY]: [] }] }),
    ...(parameters.length > 0 && {
      parameters: parameters.map(({ name, in: where, schema, isRequired, ...one }) => ({
        name,
        in: where,
        required: where === 'path' || isRequired === true,
        description: one.description,
        schema: components.schema(schema)
      }))
    }),
    ...(body !== undefined && {
      requestBody: { required: true, description: body.description, content: contentOf([body], components) }
    }),
    responses: {
      ...(answer !== undefined && { [status]: responseOf(Array.isArray(answer) ? answer : [answer], components) }),
      ...Object.fromEntries(
        Object.entries(all).map(([code, error]) => [
          code,
          typeof error !== 'string'
            ? responseOf([error], components)
            : { description: error, content: hasPages === true ? ERROR_OR_PAGE : ERROR }
        ])
      )
    }
  };
}

function responseOf(contents: readonly Content[], components: Components): Json {
  return { description: contents.map(({ description }) => description).join(' '), content: contentOf(contents, components) };
}

function contentOf(contents: readonly Content[], components: Components): Json {
  return Object.fromEntries(contents.map(({ type, schema }) => [type, schema === undefined ? {} : { schema: components.schema(schema) }]));
}

/** A body of JSON. */
export const json = (description: string, schema: Schema): Content => ({ type: 'application/json', schema, description });

/** A body of plain text. */
export const text = (description: string, schema: Schema): Content => ({ type: 'text/plain', schema, description });

/** A body of bytes. */
export const bytes = (description: string): Content => ({ type: 'application/octet-stream', description });

/** A parameter that is a segment of the path. */
export const inPath = (name: string, description: string, schema: Schema): OperationParameter => ({
  name,
  in: 'path',
  description,
  schema
});

/** A parameter of the query, which may be left out. */
export const inQuery = (name: string, description: string, schema: Schema): OperationParameter => ({
  name,
  in: 'query',
  description,
  schema
});

/** An operation that this node refuses because of its options. */
export const refused = <T extends Operation>(operation: T, status: number, why: string): T => ({
  ...operation,
  answer: undefined,
  errors: { [status]: why }
});
