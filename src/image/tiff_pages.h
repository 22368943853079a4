/* Where the pages of a TIFF are. libtiff would walk to a page anew for each one, and remembers all on its way. */
#ifndef IMAGE_TIFF_PAGES_H
#define IMAGE_TIFF_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

/* *offset of the directory of page `page`, from 1; of no page if that is 0. *n_pages (may be NULL) counts all.
 * Directories marked as reduced copies or as masks are no pages. A file of more than 65,535 directories is refused, and
 * so is one whose directories are outside of it. TIFF 6.0, section 2; BigTIFF. */
enum clv_status tiff_find_page(uint64_t *offset, uint32_t *n_pages, const uint8_t *bytes, size_t size, uint32_t page,
                               struct clv_error *err) CLV_CHECK;

#endif
