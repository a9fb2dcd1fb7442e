#!/bin/sh
# Holds the bytes (*.hex, derived by hand from the wire format) against protoc, an
# implementation that is not ours: protoc --encode of the text gives the bytes, and
# protoc --decode of the bytes gives the text. Needs protobuf-compiler and xxd.
#   sh test/vectors/payments/messages/check.sh
set -eu
cd "$(dirname "$0")"
proto="protoc -I ../../../../proto -I . extensions.proto"
for text in *.txtpb; do
  name=${text%.txtpb}
  type=payments.${name%%.*}
  bytes=$(sed 's/#.*//' "$name.hex" | tr -d ' \n')
  encoded=$($proto --encode="$type" < "$text" | xxd -p | tr -d '\n')
  [ "$encoded" = "$bytes" ] || { echo "$name: protoc encodes $encoded, not $bytes"; exit 1; }
  printf '%s' "$bytes" | xxd -r -p | $proto --decode="$type" | cmp - "$text" || { echo "$name: protoc decodes another text"; exit 1; }
done
