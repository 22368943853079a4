/* Objects of an image. Read cleave/objects.h first, then object_map.c (maps of them), object_table.c (measures). */
#ifndef OBJECT_MAP_H
#define OBJECT_MAP_H

#include "cleave/objects.h"

/* The objects of an image of a set, if it has a file of them: the manifest's column `instances`, or instances/. *map has
 * no objects[] if there is none. width and height are the image's. With a mask of its own (item->mask, not derived)
 * objects have the labels of most of their pixels, else label 1. Errors as of clv_object_map_read and clv_mask_read. */
enum clv_status set_instances_read(struct clv_object_map *map, const struct clv_set *set, const struct clv_item *item,
                                   int32_t width, int32_t height, const struct clv_image_limits *limits,
                                   struct clv_error *err) CLV_CHECK;

/* colours[height][width] = 0 where there is no object, else 1..255, so that objects which touch by sides or corners
 * differ, as far as 255 can. O(pixels) mostly, 32 times as much at worst. */
enum clv_status object_map_colour(uint8_t *colours, const struct clv_object_map *map, struct clv_error *err) CLV_CHECK;

#endif
