/* The C boundary. crates/cuda/src/ffi.rs mirrors it, item by item.
 *
 * Every function returns 0, or a code with `error` filled in: CUDA's code, or a negative one of ours. Pointers named
 * device_* are device memory. Functions work on the device they are given and return when their work is done, unless they
 * say otherwise. One thread at a time may use a device.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t code, line;
    char file[64], call[192], text[128];        /* cut off where longer, always terminated */
} CuzkError;

typedef struct CuzkDevice CuzkDevice;
typedef struct CuzkQuotient CuzkQuotient;

/* A sum of scalar * base. Scalar i is scalars[scalar_of[i]], its base bases[base_of[i]]; without a list, number i. Scalars
 * are 32 bytes, little-endian, below r; bases affine, in Montgomery form. */
typedef struct {
    uint32_t is_g2;
    uint32_t windows, windows_per_batch;        /* 0: chosen by count */
    uint32_t bases_count, count;
    const void *device_bases, *device_scalars;
    const uint32_t *device_scalar_of, *device_base_of;
} CuzkMsm;

/* How a multiplication's result is cut: into windows, lowest first, of so many bits, and those into tiles. */
typedef struct {
    uint32_t windows, side_bits, tiles;
    uint32_t bits[64], tiles_of_window[64];
} CuzkLayout;

/* The sum of the bases of dense variables whose bit is one. Bases lie in the order of these variables, number first_base
 * and on; ranks: first_rank and the dense variables before each word. No bit may be dense beyond the last base. */
typedef struct {
    uint32_t is_g2;
    uint32_t bases_count, words, first_base, first_rank;
    const void* device_bases;
    const uint64_t *device_bits, *device_density;
    const uint32_t* device_ranks;
} CuzkOnes;

typedef struct {
    const void* device_values;
    const void* device_words;
    const uint32_t* device_ranks;
    uint32_t num_inputs;
} CuzkWitness;

#define CUZK_SHORT_ROW 12

typedef struct {
    const uint32_t *device_row_ptr, *device_columns;
    const uint16_t* device_coefficients;
    const uint32_t *device_links, *device_long_rows;
    uint32_t num_long;                          /* rows of more than CUZK_SHORT_ROW entries */
    uint32_t rows, copies, aux_stride, num_links, first_row;
} CuzkRows;

typedef struct {
    const void *device_factors, *device_terms;
    uint32_t one, minus_one;
} CuzkDictionary;

/* How the bits of an index are cut: 3, 4, 6, 7, 8 or 9 each. */
typedef struct { uint32_t digit[3]; } CuzkDigits;

/* Multiples of one point: points[i] = scalars[i] * point. Window w of the table holds the multiples d * 2^(w * digit_bits)
 * of the point for all 2^digit_bits digits d, affine, number 0 at infinity. Scalars are plain, 32 bytes. digit_bits: 1, 2,
 * 4, 8 or 16. */
typedef struct {
    uint32_t is_g2, digit_bits, count;
    void* device_points;
    const void *device_table, *device_scalars;
} CuzkMultiples;

typedef struct {
    int (*device_count)(int32_t* count, CuzkError* error);
    /* Its name, and its PCI bus id as NVML writes it too; both terminated. */
    int (*describe)(int32_t ordinal, char* name, char* bus_id, uint32_t size, CuzkError* error);
    int (*open)(int32_t ordinal, CuzkDevice** device, CuzkError* error);
    void (*close)(CuzkDevice* device);
    int (*memory)(CuzkDevice* device, uint64_t* free_bytes, uint64_t* total_bytes, CuzkError* error);
    int (*allocate)(CuzkDevice* device, uint64_t bytes, void** device_memory, CuzkError* error);
    void (*release)(CuzkDevice* device, void* device_memory);
    int (*allocate_pinned)(CuzkDevice* device, uint64_t bytes, void** memory, CuzkError* error);
    void (*release_pinned)(CuzkDevice* device, void* memory);
    /* Pins the host's own memory, whole pages, until `unpin`. */
    int (*pin)(CuzkDevice* device, void* memory, uint64_t bytes, CuzkError* error);
    void (*unpin)(CuzkDevice* device, void* memory);
    /* Enqueued behind earlier work, not waited for: `from` must be pinned and stay as it is until `wait`. */
    int (*upload)(CuzkDevice* device, void* device_to, const void* from, uint64_t bytes, CuzkError* error);
    int (*download)(CuzkDevice* device, void* to, const void* device_from, uint64_t bytes, CuzkError* error);
    int (*copy)(CuzkDevice* device, void* device_to, const void* device_from, uint64_t bytes, CuzkError* error);
    int (*fill)(CuzkDevice* device, void* device_to, uint8_t byte, uint64_t bytes, CuzkError* error);
    int (*wait)(CuzkDevice* device, CuzkError* error);

    /* The cut that serves a domain of 2^log_n best; an error where none serves. */
    int (*quotient_digits)(uint32_t log_n, CuzkDigits* digits, CuzkError* error);
    /* Tables for a domain, in `device_memory` of quotient_bytes. */
    int (*quotient_bytes)(const CuzkDigits* digits, uint64_t* bytes, CuzkError* error);
    int (*quotient_create)(CuzkDevice* device, const CuzkDigits* digits, void* device_memory, CuzkQuotient** quotient, CuzkError* error);
    void (*quotient_destroy)(CuzkQuotient* quotient);
    /* a, b: values, below r, a plain and b in Montgomery form; all three arrays are overwritten, a with h: plain,
     * bit-reversed. Not waited for. */
    int (*quotient_run)(CuzkDevice* device, const CuzkQuotient* quotient, void* device_a, void* device_b, void* device_c, CuzkError* error);
    /* Half the coefficients of the polynomial with these values, bit-reversed. Not waited for. */
    int (*half_inverse)(CuzkDevice* device, const CuzkQuotient* quotient, void* device_x, CuzkError* error);

    /* Points come out Jacobian: X, Y, Z of 48 or 96 bytes each, Montgomery form.
     * Of a multiplication, three for each tile: sum k * row_k, sum k * column_k, and the sum of the tile's buckets. Bucket
     * (row, column) of a window's tile t stands for the digit t * 4^side_bits + row * 2^side_bits + column + 1. */
    int (*msm_bytes)(CuzkDevice* device, const CuzkMsm* msm, uint64_t* bytes, CuzkLayout* layout, CuzkError* error);
    int (*msm_run)(CuzkDevice* device, const CuzkMsm* msm, void* device_workspace, void* points, CuzkError* error);
    int (*ones_bytes)(CuzkDevice* device, const CuzkOnes* ones, uint64_t* bytes, CuzkError* error);
    int (*ones_run)(CuzkDevice* device, const CuzkOnes* ones, void* device_workspace, void* point, CuzkError* error);

    /* Not waited for, all of these. */
    int (*make_plain)(CuzkDevice* device, void* device_values, uint64_t count, CuzkError* error);
    int (*make_dictionary)(CuzkDevice* device, void* device_plain, void* device_twice, const void* device_montgomery, uint32_t count, CuzkError* error);
    int (*place_bits)(CuzkDevice* device, void* device_words, const uint64_t* device_bits, uint32_t count, CuzkError* error);
    int (*evaluate)(CuzkDevice* device, void* device_out, const CuzkRows* rows, const CuzkDictionary* dictionary, const CuzkWitness* witness, CuzkError* error);
    int (*decode_points)(CuzkDevice* device, void* device_out, const void* device_encoded, uint32_t first, uint32_t count, uint32_t is_g2, uint32_t reversed_bits, CuzkError* error);
    /* Bases for checks and timings: points[have << k ..] becomes points[.. have << k] plus points[count + k], until there
     * are `count`. */
    int (*extend_points)(CuzkDevice* device, void* device_points, uint32_t have, uint32_t count, uint32_t is_g2, CuzkError* error);
    int (*multiply_fixed)(CuzkDevice* device, const CuzkMultiples* multiples, CuzkError* error);
    int (*first_off_curve)(CuzkDevice* device, const void* device_points, uint32_t count, uint32_t is_g2, uint32_t* first, CuzkError* error);
} CuzkApi;

const CuzkApi* cuzk_device_api(void);
const CuzkApi* cuzk_emulated_device_api(void);

#ifdef __cplusplus
}
#endif
