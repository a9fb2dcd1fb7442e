// The payments library as it is published (`bcoin-rest/payments`): the protocol, and a merchant built on it. It depends on nothing else
// of this package.

export * from '../../payments/index';

export type { ConfirmingBlock, MerchantChain, Standing, TracedTransaction } from './chain';
export { FolderStorage, type PaymentStorage } from './storage';
export { DamagedRecordError, type PaymentOutcome, type Receipt, type StoredPayment, type StoredRequest } from './record';
export { PaymentStore } from './store';
export { Merchant, type CreatedRequest, type MerchantOptions, type PaymentState } from './merchant';
export type { Order } from './order';
export type { Received, ReceivedOutput } from './receipts';
export { answerCreate, answerGet, answerPay, type PaymentReply } from './http';
