// The payments library: BIP70 messages, their signatures and rules, and the transport of BIP71 to BIP73. It depends on nothing
// else of this project.

export { PaymentError, type PaymentErrorCode } from './error';
export {
  DEFAULTS,
  MAX_PAYMENT_ACK_SIZE,
  MAX_PAYMENT_REQUEST_SIZE,
  MAX_PAYMENT_SIZE,
  acknowledgePayment,
  decodeOutput,
  decodePayment,
  decodePaymentACK,
  decodePaymentDetails,
  decodePaymentRequest,
  decodeX509Certificates,
  encodeOutput,
  encodePayment,
  encodePaymentACK,
  encodePaymentDetails,
  encodePaymentRequest,
  encodeX509Certificates,
  type Output,
  type Payment,
  type PaymentACK,
  type PaymentDetails,
  type PaymentRequest,
  type X509Certificates
} from './messages';
export { identityOfPem, type Identity } from './identity';
export { makePaymentRequest, signPaymentRequest } from './signature';
export { verifyPaymentRequest, type TrustPolicy, type Verification } from './verify';
export { TrustRoots, keyPin } from './x509/trust';
export type { UntrustedReason } from './x509/untrusted';
export { MAX_MONEY, dustThreshold } from './rules/amount';
export {
  checkPaymentRequest,
  type PayableRequest,
  type PaymentNetwork,
  type RequestConditions,
  type RequestedOutput
} from './rules/request';
export { checkPayment } from './rules/payment';
export { parseTransaction, type Transaction } from './rules/transaction';
export {
  PAYMENT_ACK_TYPE,
  PAYMENT_REQUEST_TYPE,
  PAYMENT_TYPE,
  URI_LIST_TYPE,
  negotiate,
  type PaymentRepresentation
} from './transport/media-types';
export { formatBitcoinUri, parseBitcoinUri, type BitcoinUri } from './transport/bitcoin-uri';
export { runPaymentsCommand, type CommandIo } from './cli';
