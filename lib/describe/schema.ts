// JSON Schema (2020-12) as plain data: what of it the descriptions use, and the few ways in which schemas are put together.

export type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null';

export interface PlainSchema {
  readonly type?: JsonType | readonly JsonType[];
  readonly description?: string;
  readonly const?: string | number | boolean | null;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly default?: string | number | boolean;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Properties;
  readonly required?: readonly string[];
  /** Of every property that `properties` does not have. */
  readonly additionalProperties?: Schema;
  readonly propertyNames?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** A schema that stands in a document once, under its name, and is referred to. */
export interface NamedSchema {
  readonly name: string;
  readonly is: PlainSchema;
  /** What it means where it is referred to. */
  readonly description?: string;
}

export type Schema = PlainSchema | NamedSchema;

export type Properties = Readonly<Record<string, Schema>>;

/** A schema that a document has once; whoever uses it refers to the name. */
export const named = (name: string, is: PlainSchema): NamedSchema => ({ name, is });

/** The same schema, with what it means in this place. */
export const described = <T extends Schema>(description: string, schema: T): T => ({ ...schema, description });

/** An object: the fields that it always has, then those that it may lack. */
export const object = (required: Properties, optional: Properties = {}): PlainSchema => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required)
});

/** A list of any length. */
export const listOf = (items: Schema): PlainSchema => ({ type: 'array', items });

/** A list with one item for each of these schemas. */
export const tuple = (...prefixItems: readonly Schema[]): PlainSchema => ({
  type: 'array',
  prefixItems,
  minItems: prefixItems.length,
  maxItems: prefixItems.length
});

/** An object whose keys are not fields. */
export const mapOf = (propertyNames: Schema, additionalProperties: Schema): PlainSchema => ({
  type: 'object',
  propertyNames,
  additionalProperties
});

/** What at least one of these schemas allows. */
export const anyOf = (...schemas: readonly Schema[]): PlainSchema => ({ anyOf: schemas });

/** The same, or null. */
export const nullable = (schema: Schema): PlainSchema => anyOf(schema, { type: 'null' });

export const isNamed = (schema: Schema): schema is NamedSchema => 'is' in schema;
